// Package sleep waits for time to pass, but not beyond a context.
package sleep

import (
	"context"
	"time"
)

// For returns after d, without an error, or as soon as ctx is done, with its error.
// It does not wait where d is not above zero.
func For(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
