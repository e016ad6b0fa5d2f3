package live_test

import (
	"context"
	"testing"

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
