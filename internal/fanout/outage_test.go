package fanout_test

import (
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestOutage_OfTheServerLosesNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t, "--appendonly", "yes", "--appendfsync", "always")
	e := newEngine(t, store.Options{URL: server.URL(), Chunk: slowChunk})
	author := e.Register("author")[0]
	impatient := newEngine(t, store.Options{URL: server.URL(), Chunk: slowChunk, Timeout: 500 * time.Millisecond})
	worker, _ := impatient.Work(slowWorker())
	fans := e.fans(author, 300)
	e.Drain()
	var want []retwis.PostID
	for range 5 {
		want = append(want, e.Post(author, "before"))
	}
	server.Kill()
	if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: e.Key()}); err == nil {
		t.Error("CreatePost succeeded without a Redis")
	}
	server.Start()
	server.Pause()
	time.Sleep(time.Second)
	server.Resume()
	want = append(want, e.Post(author, "after"))
	e.Drain()
	e.everyFanHas(fans, enginetest.Newest(want))
	if n := worker.Stats().DeadLetters; n > 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}

func TestOutage_OfAMasterLosesNothing(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	e := newEngine(t, store.Options{URL: cluster.URL(), Chunk: slowChunk})
	author := e.Register("author")[0]
	worker, _ := e.Work(slowWorker())
	fans := e.fans(author, 200)
	e.Drain()
	var want []retwis.PostID
	keep := func(n int) {
		for range n {
			key := e.Key()
			edge := retryFor(t, 2*time.Minute, func() (retwis.PostEdge, error) {
				return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: key})
			})
			want = append(want, edge.Post.ID)
		}
	}
	keep(10)
	dead := cluster.KillMaster(0)
	keep(10)
	cluster.AwaitAvailable()
	dead.Start()
	keep(10)
	e.Drain()
	e.everyFanHas(fans, enginetest.Newest(want))
	if n := worker.Stats().DeadLetters; n > 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}

func TestMovedSlots_LoseAndDuplicateNothing(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3})
	e := newEngine(t, store.Options{URL: cluster.URL(), Chunk: slowChunk, Partitions: 4})
	author := e.Register("author")[0]
	worker, _ := e.Work(slowWorker())
	fans := e.fans(author, 300)
	e.Drain()
	client := enginetest.Client(t, cluster.URL())
	var want []retwis.PostID
	for _, clock := range enginetest.Keys(t, client, "*:clock") {
		for range 5 {
			want = append(want, e.Post(author, "x"))
		}
		slot := cluster.Slot(clock)
		for _, node := range cluster.Nodes() {
			if node != cluster.Master(slot) {
				cluster.MoveSlot(slot, node)
				break
			}
		}
	}
	e.Drain()
	e.everyFanHas(fans, enginetest.Newest(want))
	if n := worker.Stats().DeadLetters; n > 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}
