package live_test

import (
	"context"
	"testing"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/store"
)

func TestStore_DeliversProbesToTheirNode(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		hear := make(chan pubsub.Message, 10)
		n.run(func(ctx context.Context) error {
			return n.Live.Listen(ctx, "here", 3, func(m pubsub.Message) { hear <- m })
		})
		for _, want := range []pubsub.Kind{pubsub.Joined, pubsub.Probe} {
			if got := <-hear; got.Kind != want {
				t.Fatalf("heard %q, want %q", got.Kind, want)
			}
			for _, node := range []string{"elsewhere", "here"} {
				if err := n.Live.Probe(t.Context(), node, 3); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A node that a slot has just left refuses a subscription with MOVED, and the driver keeps the connection. Only a new
// subscription reaches the node that publishes.
func TestStore_SubscriptionsFollowMovedSlots(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3})
	n := openNode(t, cluster.URL(), store.Options{})
	hear := make(chan pubsub.Message, 100)
	n.run(func(ctx context.Context) error {
		return n.Live.Listen(ctx, "here", 3, func(m pubsub.Message) { hear <- m })
	})
	await := func(want pubsub.Kind) {
		t.Helper()
		timeout := time.After(time.Minute)
		for {
			select {
			case got := <-hear:
				if got.Kind == want {
					return
				}
			case <-timeout:
				t.Fatalf("did not hear %q within a minute", want)
			}
		}
	}
	slot := cluster.Slot(n.DB().Partition(3).Live("here"))
	for range 3 {
		await(pubsub.Joined)
		for _, to := range cluster.Nodes() {
			if to != cluster.Master(slot) {
				cluster.MoveSlot(slot, to)
				break
			}
		}
	}
	await(pubsub.Joined)
	if err := n.Live.Probe(t.Context(), "here", 3); err != nil {
		t.Fatal(err)
	}
	await(pubsub.Probe)
}
