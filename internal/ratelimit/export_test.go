package ratelimit

import (
	"context"
	"time"
)

// SetStoreTimeout sets how long the store may take to answer.
func (l *Limiter) SetStoreTimeout(d time.Duration) { l.storeTimeout = d }

// Report reports the reads of some keys to the store now.
func (l *Limiter) Report(ctx context.Context, keys []Key) error { return l.report(ctx, keys) }

// Unsent returns the usage of a key that is not reported yet, and forgets it.
func (l *Limiter) Unsent(key Key) time.Duration { return l.reads.begin(key) }

// KnownBudget returns the budget of a key as far as this process knows.
func (l *Limiter) KnownBudget(key Key) Budget { return l.reads.budget(key) }
