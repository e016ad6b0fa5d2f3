package store_test

import (
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: an author and the entries of a full home had one bucket. The back-fill compared each post with each entry, which took Redis
// 28 times as long as the back-fill of another author, and could be repeated by unfollowing and following.
func TestMerge_TakesAboutAsLongIfAllPostsAreOfOneBucket(t *testing.T) {
	t.Parallel()
	const posts = 500
	url := redistest.Server(t).URL()
	e, client := newEngine(t, store.Options{URL: url, HomeCap: posts}), enginetest.Client(t, url)
	reader := e.Register("reader")[0]
	author, shown := e.ofOneBucket(reader)
	elsewhere := e.Apart(2)
	elsewhere = slices.DeleteFunc(elsewhere, func(id retwis.UserID) bool { return id.PostBucket() == author.PostBucket() })
	_, stop := e.Work(fanout.Options{})
	for _, of := range []retwis.UserID{author, elsewhere[0], shown} {
		first := e.Post(of, "first")
		for range posts {
			reply := retwis.NewPost{Author: of, Text: "reply", InReplyTo: first, IdempotencyKey: e.Key()}
			if _, err := e.Posts.CreatePost(t.Context(), reply); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.Follow(reader, shown)
	e.Drain()
	e.Read(retwis.Home(reader))
	e.Drain()
	stop()
	e.Follow(reader, author)
	e.Follow(reader, elsewhere[0])
	microseconds := func(of retwis.UserID) int {
		return scriptTime(t, client, func() {
			if err := e.Tasks.Backfill(t.Context(), retwis.Home(reader), of, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	var ones, others []int
	for range 9 {
		ones, others = append(ones, microseconds(author)), append(others, microseconds(elsewhere[0]))
	}
	slices.Sort(ones)
	slices.Sort(others)
	one, other := ones[len(ones)/2], others[len(others)/2]
	t.Logf("Redis took %d us for posts of the home's bucket, and %d us for others", one, other)
	if one > 10*other {
		t.Errorf("the back-fill of posts of the home's bucket took %d us of Redis, and that of others %d us", one, other)
	}
}

// Attack: posts waited in the outboxes while lists were built. Those for which the lists had no room took Redis 300 microseconds each, because the
// whole list was searched for an older post of their author.
func TestMerge_SearchesAFullListOnce(t *testing.T) {
	t.Parallel()
	const waiting = 100
	url := redistest.Server(t).URL()
	e, client := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2}), enginetest.Client(t, url)
	people := e.Apart(2)
	reader, author := people[0], people[1]
	release := e.HoldOutbox(author)
	made := make([]retwis.PostID, waiting)
	for i := range made {
		made[i] = e.Post(author, "x")
	}
	if _, err := e.Importer().FollowAll(t.Context(), []retwis.Followings{{Reader: reader, Authors: []retwis.UserID{author}}}); err != nil {
		t.Fatal(err)
	}
	want := enginetest.Newest(made)
	if got := e.Read(retwis.Home(reader)); !slices.Equal(got, want) {
		t.Fatalf("the build brought %v, want %v", got, want)
	}
	before := commandStat(t, client, "lrange", "calls")
	e.Work(fanout.Options{})
	release()
	e.Drain()
	if n := commandStat(t, client, "lrange", "calls") - before; n > waiting/2 {
		t.Errorf("%d posts were delivered with %d searches", waiting, n)
	}
	if got := e.Read(retwis.Home(reader)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
