// Package sleep waits for a duration or the end of a context.
package sleep

import (
	"context"
	"time"
)

// For waits for d and returns nil, or returns the error of ctx as soon as ctx is done. It does
// not wait if d is not positive.
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
