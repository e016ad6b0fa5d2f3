package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// runOf is a run of an author's posts from a source, the first of them a number of hours ago.
func runOf(author retwis.UserID, from, count, hours int) retwis.PostImport {
	run := retwis.PostImport{Author: author, Source: "elsewhere", From: from}
	for i := range count {
		at := time.Now().Add(time.Duration(i-hours) * time.Hour)
		run.Posts = append(run.Posts, retwis.PastPost{Text: fmt.Sprintf("number %d", from+i), CreatedAt: at})
	}
	return run
}

func TestImports(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.work(fanout.Options{})
		ctx := t.Context()

		taken := e.register("Taken")
		registrations := []retwis.Registration{{Username: "taken", PasswordHash: "x"}}
		for i := range 60 {
			registrations = append(registrations, retwis.Registration{
				Username: fmt.Sprint("import", i), DisplayName: "Import", Bio: "I was somewhere else.", PasswordHash: "x",
				CreatedAt: time.Now().Add(-100 * 24 * time.Hour),
			})
		}
		ids, err := e.importer().RegisterAll(ctx, registrations)
		if err != nil {
			t.Fatal(err)
		}
		if ids[0] != 0 {
			t.Errorf("a name that was taken went to %s", ids[0])
		}
		people := ids[1:]
		claims, err := e.importer().Claims(ctx, []string{"TAKEN", "import3", "nobody"})
		if err != nil || claims[0].User != taken[0] || claims[1].User != people[3] || claims[1].Pending || claims[2].User != 0 {
			t.Fatalf("the names belong to %+v: %v", claims, err)
		}
		users, err := e.Accounts.Users(ctx, people[:1])
		if err != nil || users[0].Bio != "I was somewhere else." || time.Since(users[0].CreatedAt) < 99*24*time.Hour {
			t.Fatalf("the account is %+v: %v", users[0], err)
		}

		// Posts, then follows, all of it twice.
		author, early := people[0], people[1]
		e.follow(early, author)
		e.drain()
		for repeat := range 2 {
			var runs []retwis.PostImport
			for _, one := range people[:20] {
				runs = append(runs, runOf(one, 0, 30, 70), runOf(one, 30, 30, 40))
			}
			added, err := e.importer().ImportPosts(ctx, runs)
			if want := 20 * 60 * (1 - repeat); err != nil || added != want {
				t.Fatalf("time %d: %d posts are new, want %d: %v", repeat, added, want, err)
			}
			var all []retwis.Followings
			for _, reader := range people {
				all = append(all, retwis.Followings{Reader: reader, Authors: people[:20]})
			}
			added, err = e.importer().FollowAll(ctx, all)
			if want := (20*19 + 40*20 - 1) * (1 - repeat); err != nil || added != want {
				t.Fatalf("time %d: %d follows are new, want %d: %v", repeat, added, want, err)
			}
		}
		if err := e.importer().ImportPublicTimeline(ctx, people); err != nil {
			t.Fatal(err)
		}
		e.drain()
		e.isSound()
		page, err := e.Timelines.Page(ctx, retwis.Profile(author), retwis.Page{First: 60})
		if err != nil || len(page.Edges) != 60 || page.Edges[0].Post.Text != "number 59" || page.Edges[59].Post.Text != "number 0" {
			t.Fatalf("the profile has %d posts: %v", len(page.Edges), err)
		}
		if age := time.Since(page.Edges[59].Post.CreatedAt).Round(time.Hour); age != 70*time.Hour {
			t.Errorf("the oldest post is %s old, want 70 hours", age)
		}
		for _, reader := range []retwis.UserID{early, people[30], author} {
			if home := e.read(retwis.Home(reader)); len(home) != 1200 {
				t.Errorf("on a home there are %d posts, want 1200", len(home))
			}
		}
		if public := e.read(retwis.Public()); len(public) < 1000 {
			t.Errorf("the public timeline holds %d posts", len(public))
		}

		// What comes later reaches the homes that are built by now, after a post that was
		// made meanwhile too.
		e.post(author, "made here")
		if _, err := e.importer().ImportPosts(ctx, []retwis.PostImport{runOf(author, 60, 5, 5)}); err != nil {
			t.Fatal(err)
		}
		e.drain()
		e.isSound()
		page, err = e.Timelines.Page(ctx, retwis.Home(people[30]), retwis.Page{First: 6})
		if err != nil || page.Edges[0].Post.Text != "number 64" || page.Edges[5].Post.Text != "made here" {
			t.Errorf("the home begins with %+v: %v", page.Edges, err)
		}

		// A run that comes before its time is refused, so that nothing is left out.
		busy, ok := errors.AsType[*retwis.Error](func() error {
			_, err := e.importer().ImportPosts(ctx, []retwis.PostImport{runOf(people[2], 100, 5, 5)})
			return err
		}())
		if !ok || busy.Code != retwis.CodeRateLimited {
			t.Errorf("a run with a gap before it: %v", busy)
		}
	})
}

// repairCounter counts the steps of repairs, each of which goes over one partition here.
type repairCounter struct {
	*store.Tasks
	steps atomic.Int64
}

func (c *repairCounter) RepairTimelines(
	ctx context.Context, author retwis.UserID, partition int, to outbox.TargetKind, after int64,
) (int64, bool, error) {
	c.steps.Add(1)
	return c.Tasks.RepairTimelines(ctx, author, partition, to, after)
}

// While repairs of an author wait, people come and go: those that the last repair does not
// find any more lose the posts, those that it finds have all, and nobody has one twice.
func TestManyRunsAreRepairedAtOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		_, stop := e.work(fanout.Options{})
		author := e.register("author")[0]
		fans := e.fans(author, 6)
		comes := e.register("comes")[0]
		e.drain()
		for _, fan := range append(fans, comes) {
			e.read(retwis.Home(fan)) // builds it: what comes later takes a repair
		}
		stop()

		stays, goes, returns := fans[:4], fans[4], fans[5]
		const before, after = 20, 5 // runs, and between them a post that has to come in its place
		runs := func(from, to int) {
			for i := from; i < to; i++ {
				if _, err := e.importer().ImportPosts(t.Context(), []retwis.PostImport{runOf(author, i*4, 4, 400-4*i)}); err != nil {
					t.Fatal(err)
				}
				switch i {
				case 3:
					e.unfollow(goes, author)
					e.unfollow(returns, author)
				case 7:
					e.follow(comes, author)
				case before + 2:
					e.follow(returns, author)
				}
			}
		}
		runs(0, before)
		e.post(author, "made here")
		runs(before, before+after)

		reach, err := e.Follows.AuthorPartitions(t.Context(), []retwis.UserID{author})
		if err != nil {
			t.Fatal(err)
		}
		counter := &repairCounter{Tasks: e.Tasks}
		e.workOn(e.Outbox, counter, fanout.Options{})
		e.drain()
		e.isSound()
		if got, want := counter.steps.Load(), int64(2*len(reach[0].Followers)); got != want || want == 0 {
			t.Errorf("the homes in a partition were gone over %d times, want %d", got, want)
		}
		for _, reader := range append(stays, comes, returns) {
			if home := e.read(retwis.Home(reader)); len(home) != 4*(before+after)+1 {
				t.Errorf("on a home there are %d posts, want %d", len(home), 4*(before+after)+1)
			}
		}
		if home := e.read(retwis.Home(goes)); len(home) > 0 {
			t.Errorf("on the home of one who went there are %d posts", len(home))
		}
	})
}
