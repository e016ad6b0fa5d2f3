package retwis

import (
	"context"
	"sync/atomic"
)

type tallyKey struct{}

// WithTally returns a context that counts the exchanges with the database that are made
// with it, and where to read the count.
func WithTally(ctx context.Context) (context.Context, *atomic.Int64) {
	tally := new(atomic.Int64)
	return context.WithValue(ctx, tallyKey{}, tally), tally
}

// CountRoundTrip counts one exchange with the database, where ctx has a tally.
func CountRoundTrip(ctx context.Context) {
	if tally, ok := ctx.Value(tallyKey{}).(*atomic.Int64); ok {
		tally.Add(1)
	}
}
