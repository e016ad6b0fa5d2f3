package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestImport_EqualsSingleCalls(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		ctx := t.Context()

		taken := e.Register("Taken")
		registrations := []retwis.Registration{{Username: "taken", PasswordHash: "x"}}
		for i := range 60 {
			registrations = append(registrations, retwis.Registration{
				Username: fmt.Sprint("import", i), DisplayName: "Import", Bio: "I was somewhere else.", PasswordHash: "x",
				CreatedAt: time.Now().Add(-100 * 24 * time.Hour),
			})
		}
		ids, err := e.Importer().RegisterAll(ctx, registrations)
		if err != nil {
			t.Fatal(err)
		}
		if ids[0] != 0 {
			t.Errorf("a name that was taken went to %s", ids[0])
		}
		people := ids[1:]
		claims, err := e.Importer().Claims(ctx, []string{"TAKEN", "import3", "nobody"})
		if err != nil || claims[0].User != taken[0] || claims[1].User != people[3] || claims[1].Pending || claims[2].User != 0 {
			t.Fatalf("the names belong to %+v: %v", claims, err)
		}
		users, err := e.Accounts.Users(ctx, people[:1])
		if err != nil || users[0].Bio != "I was somewhere else." || time.Since(users[0].CreatedAt) < 99*24*time.Hour {
			t.Fatalf("the account is %+v: %v", users[0], err)
		}

		// Posts, then follows, all of it twice.
		author, early := people[0], people[1]
		e.Follow(early, author)
		e.Drain()
		for repeat := range 2 {
			var runs []retwis.PostImport
			for _, one := range people[:20] {
				runs = append(runs, enginetest.PastPosts(one, 0, 30, 70), enginetest.PastPosts(one, 30, 30, 40))
			}
			added, err := e.Importer().ImportPosts(ctx, runs)
			if want := 20 * 60 * (1 - repeat); err != nil || added != want {
				t.Fatalf("time %d: %d posts are new, want %d: %v", repeat, added, want, err)
			}
			var all []retwis.Followings
			for _, reader := range people {
				all = append(all, retwis.Followings{Reader: reader, Authors: people[:20]})
			}
			added, err = e.Importer().FollowAll(ctx, all)
			if want := (20*19 + 40*20 - 1) * (1 - repeat); err != nil || added != want {
				t.Fatalf("time %d: %d follows are new, want %d: %v", repeat, added, want, err)
			}
		}
		if err := e.Importer().ImportPublicTimeline(ctx, people); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.IsSound()
		page, err := e.Timelines.Page(ctx, retwis.Profile(author), retwis.Page{First: 60})
		if err != nil || len(page.Edges) != 60 || page.Edges[0].Post.Text != "number 59" || page.Edges[59].Post.Text != "number 0" {
			t.Fatalf("the profile has %d posts: %v", len(page.Edges), err)
		}
		if age := time.Since(page.Edges[59].Post.CreatedAt).Round(time.Hour); age != 70*time.Hour {
			t.Errorf("the oldest post is %s old, want 70 hours", age)
		}
		for _, reader := range []retwis.UserID{early, people[30], author} {
			if home := e.Read(retwis.Home(reader)); len(home) != 1200 {
				t.Errorf("on a home there are %d posts, want 1200", len(home))
			}
		}
		if public := e.Read(retwis.Public()); len(public) < 1000 {
			t.Errorf("the public timeline holds %d posts", len(public))
		}

		// What comes later reaches the homes that are built by now, after a post that was
		// made meanwhile too.
		e.Post(author, "made here")
		if _, err := e.Importer().ImportPosts(ctx, []retwis.PostImport{enginetest.PastPosts(author, 60, 5, 5)}); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.IsSound()
		page, err = e.Timelines.Page(ctx, retwis.Home(people[30]), retwis.Page{First: 6})
		if err != nil || page.Edges[0].Post.Text != "number 64" || page.Edges[5].Post.Text != "made here" {
			t.Errorf("the home begins with %+v: %v", page.Edges, err)
		}

		// A run that comes before its time is refused, so that nothing is left out.
		busy, ok := errors.AsType[*retwis.Error](func() error {
			_, err := e.Importer().ImportPosts(ctx, []retwis.PostImport{enginetest.PastPosts(people[2], 100, 5, 5)})
			return err
		}())
		if !ok || busy.Code != retwis.CodeRateLimited {
			t.Errorf("a run with a gap before it: %v", busy)
		}
	})
}

func TestImport_KeepsTimesBefore2026(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	author := e.Register("author")[0]
	times := []time.Time{
		time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(2025, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
	}
	run := retwis.PostImport{Author: author, Source: "archive"}
	for _, at := range times {
		run.Posts = append(run.Posts, retwis.PastPost{Text: at.String(), CreatedAt: at})
	}
	if added, err := e.Importer().ImportPosts(t.Context(), []retwis.PostImport{run}); err != nil || added != len(times) {
		t.Fatalf("%d posts added: %v", added, err)
	}
	now := e.Post(author, "now")
	page, err := e.Timelines.Page(t.Context(), retwis.Profile(author), retwis.Page{First: 10})
	if err != nil || len(page.Edges) != 3 || page.Edges[0].Post.ID != now {
		t.Fatalf("the profile has %d posts: %v", len(page.Edges), err)
	}
	for i, want := range times {
		if post := page.Edges[2-i].Post; !post.CreatedAt.Equal(want) || post.Text != want.String() {
			t.Errorf("post %q was created at %s, want %s", post.Text, post.CreatedAt, want)
		}
	}
}
