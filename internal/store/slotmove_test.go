package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// While Redis moves a slot to another node, it breaks off a script at the first key that has moved or never existed, except
// if it can refuse the script before it begins.
func TestScripts_DoNotBeginWhileTheirSlotMoves(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3})
	db := newEngine(t, store.Options{URL: cluster.URL()}).Store.DB()
	p := db.Partition(1)
	existing, missing := p.User(1).Account(), p.User(2).Account()
	if err := db.Client.HSet(t.Context(), existing, "name", "ada").Err(); err != nil {
		t.Fatal(err)
	}
	all, err := script.Load()
	if err != nil {
		t.Fatal(err)
	}
	slot := cluster.Slot(existing)
	defer cluster.BeginMove(slot)()
	var calls []rdb.Call
	for name := range all {
		for _, keys := range [][]string{{existing}, {missing}, {existing, missing}} {
			calls = append(calls, rdb.Call{Script: name, Keys: keys})
		}
	}
	replies := append(db.DoAll(t.Context(), calls), db.Do(t.Context(), calls[0]))
	for i, reply := range replies {
		if err := reply.Err(); !redis.HasErrorPrefix(err, "TRYAGAIN") && !redis.HasErrorPrefix(err, "ASK") { // neither ran it
			c := calls[i%len(calls)]
			t.Errorf("%s with the keys %v gave %v, want TRYAGAIN or ASK", c.Script, c.Keys, reply)
		}
	}
}

// A read that is refused while its slot moves pulls the posts of large authors later.
func TestPull_RefusedByAMovingSlotAddsThePostsLater(t *testing.T) {
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
	first := e.Post(author, "first")
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
	if page, err := e.Timelines.Page(t.Context(), home, retwis.Page{First: 10}); rdb.Unavailable(err) == nil || !strings.Contains(err.Error(), "TRYAGAIN") {
		t.Fatalf("the read gave %+v, %v, want a script that was refused", page, err)
	}
	stop()
	if got, want := e.Read(home), []retwis.PostID{second, first}; !slices.Equal(got, want) {
		t.Errorf("the home holds %v, want %v", got, want)
	}
}
