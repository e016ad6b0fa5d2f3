// Package roundtrip counts exchanges with the database. The counter travels in a context,
// as a trace does: the store counts, and the server and tests read the count.
package roundtrip

import (
	"context"
	"sync/atomic"
)

type counterKey struct{}

// WithCounter returns a context that counts the round trips made with it, and the counter.
func WithCounter(ctx context.Context) (context.Context, *atomic.Int64) {
	counter := new(atomic.Int64)
	return context.WithValue(ctx, counterKey{}, counter), counter
}

// Count counts one round trip if ctx has a counter.
func Count(ctx context.Context) {
	if counter, ok := ctx.Value(counterKey{}).(*atomic.Int64); ok {
		counter.Add(1)
	}
}
