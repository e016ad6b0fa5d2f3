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

// A worker that takes over may find a partition with new followers that the previous worker
// did not deliver a post to before it delivered the next one. The posts must not change their
// order there, although the back-fill is still pending.
func TestTakeover_KeepsTheOrderOfAnAuthor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		to      outbox.TargetKind
		options store.Options
	}{
		{"followers", outbox.TargetFollowers, store.Options{}},
		{"lists", outbox.TargetLists, store.Options{}},
		{"large author", outbox.TargetActiveFollowers, store.Options{PullAbove: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				e := newEngine(t, options)
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
				entries, err := e.Outbox.ReadOutbox(t.Context(), e.Outbox.PartitionOfUser(author), "0", 10, time.Second)
				if err != nil || len(entries) != 2 {
					t.Fatalf("the outbox holds %v, %v", entries, err)
				}
				timeline := retwis.Home(reader)
				if tt.to == outbox.TargetLists {
					list, err := e.Lists.CreateList(t.Context(), reader, "a list", e.Key())
					if err != nil {
						t.Fatal(err)
					}
					timeline = retwis.ListPosts(list.ID)
					if err := e.Lists.AddListMember(t.Context(), reader, list.ID, author); err != nil {
						t.Fatal(err)
					}
				} else {
					e.Follow(reader, author)
				}
				for i, want := range []int{1, 0} { // the second post, then the first again
					at := outbox.Delivery{Entry: entries[1-i], Partition: e.Outbox.PartitionOfUser(reader), To: tt.to}
					got := e.Outbox.Deliver(t.Context(), []outbox.Delivery{at})[0]
					if got.Err != nil || got.Progress != outbox.Done || (tt.to != outbox.TargetActiveFollowers && got.Pushed != want) {
						t.Fatalf("delivery of post %d: %+v, want done with %d pushes", 2-i, got, want)
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
		})
	}
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
