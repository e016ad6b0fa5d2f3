package fanout

import (
	"context"
	"time"

	"retwis/internal/sleep"
)

// countEvery is the pause between two searches for changed likes.
const countEvery = 500 * time.Millisecond

// countLikes stores the numbers of likes that changed in the partitions of the served outboxes, until ctx is done.
func (w *Worker) countLikes(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := w.store.CountLikes(ctx, w.servedOutboxes())
		switch {
		case err == nil && more:
			continue
		case err != nil && ctx.Err() == nil:
			w.log.WarnContext(ctx, "fanout: counting likes failed, retrying", "err", err)
		}
		_ = sleep.For(ctx, countEvery)
	}
}

// servedOutboxes returns the outboxes that the worker serves.
func (w *Worker) servedOutboxes() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	served := make([]int, 0, len(w.served))
	for outbox := range w.served {
		served = append(served, outbox)
	}
	return served
}
