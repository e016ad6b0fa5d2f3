package fanout

import (
	"context"
	"errors"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// resume prepares the outbox for a new runner. It retries until it succeeds, and reports
// false if ctx ends first.
func (r *runner) resume(ctx context.Context) bool {
	for pause := minBackoff; ; pause = min(2*pause, maxBackoff) {
		err := r.store.ResumeOutbox(ctx, r.outboxID)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.log.ErrorContext(ctx, "fanout: resuming the outbox failed, retrying", "err", err)
		_ = sleep.For(ctx, pause)
	}
}

// read reads the entries of the outbox in order and passes them to the runner once they are
// durable, until ctx is done.
func (r *runner) read(ctx context.Context) {
	after, pause := "0", minBackoff
	for ctx.Err() == nil {
		entries, err := r.store.ReadOutbox(ctx, r.outboxID, after, window/4, time.Second)
		if err == nil && len(entries) > 0 {
			err = r.store.VerifyEntries(ctx, r.outboxID, entries[len(entries)-1].ID)
		}
		if errors.Is(err, retwis.ErrNotReplicated) {
			if ctx.Err() == nil {
				r.log.WarnContext(ctx, "fanout: entries of the outbox are not durable yet, retrying", "err", err)
			}
			_ = sleep.For(ctx, minBackoff)
			continue
		}
		if err != nil {
			if ctx.Err() == nil {
				r.log.ErrorContext(ctx, "fanout: reading the outbox failed, retrying", "err", err)
			}
			_ = sleep.For(ctx, pause)
			pause = min(2*pause, maxBackoff)
			continue
		}
		pause = minBackoff
		if len(entries) == 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case r.arrivals <- entries:
			after = entries[len(entries)-1].ID
		}
	}
}
