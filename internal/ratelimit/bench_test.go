package ratelimit_test

import (
	"log/slog"
	"testing"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// BenchmarkTake measures the counting of an operation: a read, which is counted in the
// process, and a post, which waits for Redis.
func BenchmarkTake(b *testing.B) {
	db, err := store.Open(b.Context(), store.Options{URL: redistest.Server(b).URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	wide := ratelimit.Rate{Limit: 10_000_000, Period: time.Second}
	q := ratelimit.New(db.Limits, ratelimit.Policies{Reads: wide, Posts: wide}, slog.New(slog.DiscardHandler))
	for name, cost := range map[string]ratelimit.Cost{"read": {Reads: 1}, "post": {Reads: 1, Posts: 1}} {
		b.Run(name, func(b *testing.B) {
			for user := retwis.UserID(1); b.Loop(); user = user%10_000 + 1 {
				if _, err := q.Take(b.Context(), ratelimit.Client{User: user}, cost); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
