package quota

import (
	"log/slog"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// BenchmarkTake measures what counting costs an operation: a read, which is counted in the
// process, and a post, which waits for Redis.
func BenchmarkTake(b *testing.B) {
	db, err := store.Open(b.Context(), store.Options{URL: redistest.Server(b).URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	wide := retwis.Rate{Limit: 10_000_000, Period: time.Second}
	q := New(db, Rates{Reads: wide, Posts: wide}, slog.New(slog.DiscardHandler))
	for name, demand := range map[string]retwis.Demand{"read": {Cost: 1}, "post": {Cost: 1, Posts: 1}} {
		b.Run(name, func(b *testing.B) {
			for user := retwis.UserID(1); b.Loop(); user = user%10_000 + 1 {
				if err := q.Take(b.Context(), retwis.Client{User: user}, demand); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
