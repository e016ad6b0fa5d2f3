package fanout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// toEachKind runs a test for each kind of target that receives the posts of an author in order.
func toEachKind(t *testing.T, test func(t *testing.T, e *engine, to outbox.TargetKind)) {
	for _, tt := range []struct {
		name    string
		to      outbox.TargetKind
		options store.Options
	}{
		{"followers", outbox.TargetFollowers, store.Options{}},
		{"lists", outbox.TargetLists, store.Options{}},
		{"large author", outbox.TargetPulled, store.Options{PullAbove: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				test(t, newEngine(t, options), tt.to)
			})
		})
	}
}

// twoEntries returns the two entries of an author's outbox.
func (e *engine) twoEntries(author retwis.UserID) []outbox.Entry {
	e.T.Helper()
	entries, err := e.Outbox.ReadOutbox(e.T.Context(), e.Outbox.PartitionOfUser(author), "0", 10, time.Second)
	if err != nil || len(entries) != 2 {
		e.T.Fatalf("the outbox holds %v, %v", entries, err)
	}
	return entries
}

// A worker that takes over may find a partition with new followers that the previous worker
// did not deliver a post to before it delivered the next one. The posts must not change their
// order there, although the back-fill is still pending.
func TestTakeover_KeepsTheOrderOfAnAuthor(t *testing.T) {
	t.Parallel()
	toEachKind(t, func(t *testing.T, e *engine, to outbox.TargetKind) {
		_, stop := e.Work(fanout.Options{})
		author, reader := e.Register("author")[0], e.Register("reader")[0]
		for i, followers := 0, 0; followers < 3; i++ { // above the push threshold
			other := e.Register(fmt.Sprint("other", i))[0]
			if e.Outbox.PartitionOfUser(other) != e.Outbox.PartitionOfUser(reader) {
				e.Follow(other, author)
				followers++
			}
		}
		e.Drain()
		stop()

		first, second := e.Post(author, "first"), e.Post(author, "second")
		entries := e.twoEntries(author)
		timeline := retwis.Home(reader)
		if to == outbox.TargetLists {
			timeline = retwis.ListPosts(e.CreateList(reader, author))
		} else {
			e.Follow(reader, author)
		}
		for i, want := range []outbox.Result{{Progress: outbox.Done, Pushed: 1, Served: 1}, {Progress: outbox.Late}} { // the second post, then the first again
			at := outbox.Delivery{Entry: entries[1-i], Partition: e.Outbox.PartitionOfUser(reader), To: to}
			if to == outbox.TargetPulled {
				want.Pushed, want.Served = 0, 0
			}
			if got := e.Outbox.Deliver(t.Context(), []outbox.Delivery{at})[0]; got != want {
				t.Fatalf("delivery of post %d: %+v, want %+v", 2-i, got, want)
			}
		}
		if got, want := e.Read(timeline), []retwis.PostID{second}; !slices.Equal(got, want) {
			t.Errorf("timeline before the back-fill: %v, want %v", got, want)
		}
		e.Work(fanout.Options{})
		e.Drain()
		if got, want := e.Read(timeline), []retwis.PostID{second, first}; !slices.Equal(got, want) {
			t.Errorf("timeline after the back-fill: %v, want %v", got, want)
		}
	})
}

// A failover loses a delivery and its progress, and the worker dies after it has delivered the author's next post there.
// The worker that takes over merges the lost post.
func TestTakeover_RestoresALostPostBelowALaterOne(t *testing.T) {
	t.Parallel()
	toEachKind(t, func(t *testing.T, e *engine, to outbox.TargetKind) {
		_, stop := e.Work(fanout.Options{})
		author, readers := e.Register("author")[0], e.Crowd("reader", 3) // above the push threshold
		timeline := retwis.Home(readers[0])
		for _, reader := range readers {
			e.Follow(reader, author)
		}
		if to == outbox.TargetLists {
			timeline = retwis.ListPosts(e.CreateList(readers[0], author))
		}
		e.Read(timeline)
		e.Drain()
		stop()

		first, second := e.Post(author, "first"), e.Post(author, "second")
		entries := e.twoEntries(author)
		at := outbox.Delivery{Entry: entries[1], Partition: e.Outbox.PartitionOf(timeline), To: to}
		if got := e.Outbox.Deliver(t.Context(), []outbox.Delivery{at})[0]; got.Err != nil || got.Progress != outbox.Done {
			t.Fatalf("delivery of the second post: %+v", got)
		}
		e.Work(fanout.Options{})
		e.Drain()
		if got, want := e.Read(timeline), []retwis.PostID{second, first}; !slices.Equal(got, want) {
			t.Errorf("the timeline holds %v, want %v", got, want)
		}
		e.IsSound()
	})
}

func TestKilledWorkers_AnotherWorkerTakesOver(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk})
		workers := []*workerProcess{startWorker(t, url), startWorker(t, url), startWorker(t, url)}
		author := e.Register("author")[0]
		fans := e.fans(author, 50)
		e.Drain()
		workers[0].kill()
		workers[1].kill()
		post := e.Post(author, "x")
		e.Drain()
		e.everyFanHas(fans, []retwis.PostID{post})
		e.IsSound()
	})
}
