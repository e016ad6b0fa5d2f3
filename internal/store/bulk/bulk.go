// Package bulk imports accounts, follows and posts in batches, and marks demo databases. Each call of an importer waits
// for replicas once, at the end. A failed call can be repeated, and adds what is missing.
package bulk

import (
	"context"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

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
