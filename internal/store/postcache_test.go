package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/roundtrip"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// shown returns the posts on the first page of a timeline, and the round trips that it took.
func shown(t *testing.T, e *engine, id retwis.TimelineID) ([]retwis.PostID, int) {
	t.Helper()
	ctx, trips := roundtrip.WithCounter(t.Context())
	page, err := e.Timelines.Page(ctx, id, retwis.Page{First: 20})
	if err != nil {
		t.Fatal(err)
	}
	var posts []retwis.PostID
	for _, edge := range page.Edges {
		posts = append(posts, edge.Post.ID)
	}
	return posts, int(trips.Load())
}

func TestPage_OfCachedPostsTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		reader, authors := e.ReaderApart(3)
		e.Work(fanout.Options{})
		for i := range 30 {
			e.Post(authors[i%len(authors)], fmt.Sprint("@apart0 ", i))
		}
		e.Drain()
		list := retwis.ListPosts(e.CreateList(reader, authors...))
		e.Drain()
		for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.Public(), list} {
			first, _ := shown(t, e, id)
			again, trips := shown(t, e, id)
			if trips != 1 || len(again) != 20 || !slices.Equal(first, again) {
				t.Errorf("%s: %d posts after %d round trips, want the same %d after one", id, len(again), trips, len(first))
			}
		}
	})
}

// The cache may still hold a post that a repost on the same page, whose original is read, shows to be deleted.
func TestPage_HidesACachedPostThatARepostShowsToBeDeleted(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		elsewhere := newEngine(t, store.Options{URL: url}) // another process
		reader, authors := e.ReaderApart(2)
		author, reposter := authors[0], authors[1]
		release := e.HoldOutbox(author)
		post := e.Post(author, "to be deleted")
		storetest.Repost(t, e.Store, reposter, post)
		_, stop := e.Work(fanout.Options{})
		e.DrainAllBut(e.Outbox.PartitionOfUser(author))
		release()
		e.Drain() // the post is above its repost
		stop()
		home := retwis.Home(reader)
		if posts, _ := shown(t, elsewhere, home); len(posts) != 2 {
			t.Fatalf("the home shows %v, want a post and its repost", posts)
		}
		if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
			t.Fatal(err)
		}
		page, err := elsewhere.Timelines.Page(t.Context(), home, retwis.Page{Last: 20})
		if err != nil || len(page.Edges) > 0 {
			t.Errorf("the home shows %+v, %v, want nothing", page.Edges, err)
		}
	})
}

func TestPage_HidesADeletionOnceItReachedThePartition(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		elsewhere := newEngine(t, store.Options{URL: url}) // another process
		reader, authors := e.ReaderApart(1)
		author := authors[0]
		_, stop := e.Work(fanout.Options{})
		post := e.Post(author, "to be deleted")
		e.Drain()
		stop()
		shows := func(e *engine, id retwis.TimelineID) bool {
			posts, _ := shown(t, e, id)
			return slices.Contains(posts, post)
		}
		for _, process := range []*engine{e, elsewhere} {
			for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.Home(author), retwis.Public()} {
				if !shows(process, id) {
					t.Fatalf("%s lacks the post", id)
				}
			}
		}
		if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
			t.Fatal(err)
		}
		if shows(e, retwis.Home(reader)) {
			t.Error("the process of the author still shows the post")
		}
		if !shows(elsewhere, retwis.Home(reader)) {
			t.Error("another process does not use its cache")
		}
		if shows(elsewhere, retwis.Home(author)) {
			t.Error("the partition of the author still shows the post")
		}
		if shows(elsewhere, retwis.Home(reader)) {
			t.Error("the process still shows the post after it has heard of the deletion")
		}
		again := newEngine(t, store.Options{URL: url})
		again.Work(fanout.Options{})
		again.Drain()
		if shows(elsewhere, retwis.Home(reader)) || shows(elsewhere, retwis.Public()) {
			t.Error("the deletion was delivered, and the post is still shown")
		}
	})
}

// The posts of these tests become tombstones without a change, so that only what the partition reports hides them.
func TestPage_DropsCachedPostsThatMayHaveChanged(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	e := newEngine(t, store.Options{URL: server.URL()})
	users := e.Apart(1)
	author, home := users[0], retwis.Home(users[0])
	changes, last := e.DB().OfUser(author).Changes(), e.DB().OfUser(author).LastChange()
	client := enginetest.Client(t, server.URL())
	add := func(values ...any) {
		t.Helper()
		id, err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: changes, MaxLen: 200, Values: values}).Result()
		if err != nil {
			t.Fatal(err)
		}
		client.Set(t.Context(), last, id, 0)
	}
	tests := []struct {
		name   string
		change func(post retwis.PostID)
		hides  bool
	}{
		{"the first change of a partition", func(retwis.PostID) { add("removed", 1, "author", 1) }, true},
		{"nothing", func(retwis.PostID) {}, false},
		{"the removal of another post", func(retwis.PostID) { add("removed", 1, "author", 1) }, false},
		{"100 removals of other posts", func(retwis.PostID) {
			for range 100 {
				add("removed", 1, "author", 1)
			}
		}, false},
		{"more removals than a page returns", func(retwis.PostID) {
			for range 101 {
				add("removed", 1, "author", 1)
			}
		}, true},
		{"the removal of the post", func(post retwis.PostID) { add("removed", post.String(), "author", author.String()) }, true},
		{"the hiding of the post", func(post retwis.PostID) { add("hidden", post.String(), "author", author.String()) }, true},
		{"the restoration of the post", func(post retwis.PostID) { add("restored", post.String(), "author", author.String()) }, true},
		{"a new state of an author", func(retwis.PostID) { add("state", "suspended", "author", "1") }, true},
		{"a change of a later version", func(retwis.PostID) { add("unheard-of", "1", "author", "1") }, true},
		{"a failover that loses the last change", func(retwis.PostID) {
			newest, err := client.XRevRangeN(t.Context(), changes, "+", "-", 2).Result()
			if err != nil {
				t.Fatal(err)
			}
			client.XDel(t.Context(), changes, newest[0].ID)
			client.Set(t.Context(), last, newest[1].ID, 0)
		}, true},
		{"a failover that loses all changes", func(retwis.PostID) { client.Del(t.Context(), changes, last) }, true},
		{"removals that the stream no longer has", func(retwis.PostID) {
			add("removed", 1, "author", 1)
			shown(t, e, home)
			add("removed", 1, "author", 1)
			add("removed", 1, "author", 1)
			client.XTrimMaxLen(t.Context(), changes, 1)
		}, true},
		{"nothing, after all that", func(retwis.PostID) {}, false},
	}
	for _, tt := range tests {
		post := e.Post(author, tt.name)
		if posts, _ := shown(t, e, home); posts[0] != post {
			t.Fatalf("%s: the page lacks the post", tt.name)
		}
		if err := client.HDel(t.Context(), e.DB().OfUser(author).Post(post), "text").Err(); err != nil {
			t.Fatal(err)
		}
		tt.change(post)
		posts, _ := shown(t, e, home)
		if shows := slices.Contains(posts, post); shows == tt.hides {
			t.Errorf("%s: the page shows the post: %v", tt.name, shows)
		}
	}
}

// The partition of a list need not receive the changes of these posts.
func TestPage_ReadsPostsWithoutCoverage(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	e := newEngine(t, store.Options{URL: server.URL(), HomeCap: 5, Slack: 1})
	e.Work(fanout.Options{})
	reader, authors := e.ReaderApart(1)
	stranger, reposter := e.Register("stranger")[0], authors[0]
	var old []retwis.PostID
	for i := range 12 {
		old = append(old, e.Post(reposter, fmt.Sprint(i)))
	}
	e.Drain()
	reposted := e.Post(stranger, "reposted")
	storetest.Repost(t, e.Store, reposter, reposted)
	e.Drain()
	// The process has all posts in its cache.
	if posts, _ := shown(t, e, retwis.Public()); !slices.Contains(posts, reposted) {
		t.Fatal("the public timeline lacks the post")
	}
	if posts, _ := shown(t, e, retwis.Home(reader)); !slices.Contains(posts, reposted) || !slices.Contains(posts, old[0]) {
		t.Fatalf("the home has %v", posts)
	}
	client := enginetest.Client(t, server.URL())
	for _, post := range []retwis.PostID{reposted, old[0]} {
		p, _ := e.DB().OfPost(post)
		if err := client.HDel(context.WithoutCancel(t.Context()), p.Post(post), "text").Err(); err != nil {
			t.Fatal(err)
		}
	}
	posts, _ := shown(t, e, retwis.Home(reader))
	if slices.Contains(posts, reposted) {
		t.Error("a repost shows a cached post")
	}
	if slices.Contains(posts, old[0]) {
		t.Error("a cached post is shown below the list")
	}
}
