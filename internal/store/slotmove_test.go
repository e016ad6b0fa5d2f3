package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// While Redis moves a slot to another node, a script is broken off when it accesses a key that has moved or never existed. A
// read that is broken off while it pulls posts must not make the home lose them.
func TestPull_BrokenOffByAMovingSlotAddsThePostsLater(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3})
	e := newEngine(t, store.Options{URL: cluster.URL(), PullAbove: 1})
	people := e.Apart(2)
	reader, author := people[0], people[1]
	home := retwis.Home(reader)
	e.Work(fanout.Options{})
	for i := range 2 { // enough to be large
		e.Follow(e.Register(fmt.Sprint("other", i))[0], author)
	}
	e.Follow(reader, author)
	first, deleted := e.Post(author, "first"), e.Post(author, "deleted")
	e.Drain()
	if err := e.Posts.DeletePost(t.Context(), author, deleted); err != nil { // a change, so that all keys of a read exist
		t.Fatal(err)
	}
	e.Drain()
	if got := e.Read(home); !slices.Equal(got, []retwis.PostID{first}) {
		t.Fatalf("the home holds %v, want %v", got, first)
	}
	second := e.Post(author, "second")
	e.Drain() // the home is not watched, so that only a read pulls the post
	if _, err := e.Live.SetOnline(t.Context(), "node", []retwis.TimelineID{home}, time.Hour); err != nil {
		t.Fatal(err)
	}

	slot := cluster.Slot(e.Store.DB().OfUser(reader).User(reader).Home())
	stop := cluster.BeginMove(slot)
	if page, err := e.Timelines.Page(t.Context(), home, retwis.Page{First: 10}); err == nil || !strings.Contains(err.Error(), "non local key") {
		t.Fatalf("the read gave %+v, %v, want a script that was broken off", page, err)
	}
	stop()
	if got, want := e.Read(home), []retwis.PostID{second, first}; !slices.Equal(got, want) {
		t.Errorf("the home holds %v, want %v", got, want)
	}
}
