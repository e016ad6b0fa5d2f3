// Package bulk imports accounts, follows and posts in batches, and marks demo databases. Each call of an importer waits
// for replicas once, at the end. A failed call can be repeated, and adds what is missing.
package bulk

import (
	"context"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

// keysPerPipeline bounds how long Redis works on one pipeline, on the order of 100 ms: the replies to all of its calls have
// to arrive within the timeout of a round trip, also on a busy machine.
const keysPerPipeline = 2000

// Importer fills a database.
type Importer struct {
	db        *rdb.DB
	options   store.Options
	accounts  *store.Accounts
	follows   *store.Follows
	timelines *store.Timelines
	outbox    *store.Outbox
	tasks     *store.Tasks
}

// New returns an importer to a database.
func New(s *store.Store) *Importer {
	return &Importer{
		db: s.DB(), options: s.Options(), accounts: s.Accounts, follows: s.Follows, timelines: s.Timelines,
		outbox: s.Outbox, tasks: s.Tasks,
	}
}

// Rebuild rebuilds a home or a list: see [store.Timelines.Rebuild].
func (s *Importer) Rebuild(ctx context.Context, id retwis.TimelineID) error {
	return s.timelines.Rebuild(ctx, id)
}

// OutboxLength returns the number of entries in all outboxes.
func (s *Importer) OutboxLength(ctx context.Context) (int, error) { return s.outbox.OutboxLength(ctx) }

// doAll runs scripts like [rdb.DB.DoAll], in pipelines of bounded length.
func (s *Importer) doAll(ctx context.Context, calls []rdb.Call) []*redis.Cmd {
	results := make([]*redis.Cmd, 0, len(calls))
	for len(calls) > 0 {
		n, keys := 1, len(calls[0].Keys)
		for n < len(calls) && keys+len(calls[n].Keys) <= keysPerPipeline {
			keys += len(calls[n].Keys)
			n++
		}
		results = append(results, s.db.DoAll(ctx, calls[:n])...)
		calls = calls[n:]
	}
	return results
}
