// Package inspect reads the stored state of a database for the checker, repairs what the checker finds, and
// diagnoses the Redis of a database.
package inspect

import (
	"context"
	"fmt"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// Database reads and repairs a database for the checker.
type Database struct {
	*Inspector
	*Repairer
}

// New returns the database of a store.
func New(s *store.Store) Database { return Database{NewInspector(s), NewRepairer(s)} }

// Inspector reads the stored state of a database.
type Inspector struct {
	db        *rdb.DB
	options   store.Options
	timelines *store.Timelines
}

// NewInspector returns an inspector of a database.
func NewInspector(s *store.Store) *Inspector {
	return &Inspector{db: s.DB(), options: s.Options(), timelines: s.Timelines}
}

// Passes reports whether a failure passes by itself: one of the connection, the server or the cluster.
func (*Inspector) Passes(err error) bool { return rdb.Unavailable(err) != nil }

// Partitions returns the number of partitions of the database.
func (s *Inspector) Partitions() int { return len(s.db.Partitions()) }

// PartitionOfUser returns the number of a user's partition.
func (s *Inspector) PartitionOfUser(id retwis.UserID) int { return s.db.OfUser(id).Number }

// minLateness is the minimum of [Inspector.Lateness].
const minLateness = 256

// Lateness returns the number of entries at the end of a list that may be out of order because posts arrived late. The
// list may have trimmed posts that are older than any of them.
func (s *Inspector) Lateness() int { return max(minLateness, s.options.Slack) }

// HomeCap returns the cap of lists, and by how many entries a list may exceed it.
func (s *Inspector) HomeCap() (entries, slack int) { return s.options.HomeCap, s.options.Slack }

// OutboxEnds returns the last entry of each outbox, "" if it is empty.
func (s *Inspector) OutboxEnds(ctx context.Context) ([]string, error) {
	pipe := s.db.Client.Pipeline()
	last := make([]*redis.XMessageSliceCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		last[i] = pipe.XRevRangeN(ctx, p.Outbox(), "+", "-", 1)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	return messageIDs(last)
}

// OutboxStarts returns the first entry of each outbox, "" if it is empty.
func (s *Inspector) OutboxStarts(ctx context.Context) ([]string, error) {
	pipe := s.db.Client.Pipeline()
	first := make([]*redis.XMessageSliceCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		first[i] = pipe.XRangeN(ctx, p.Outbox(), "-", "+", 1)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	return messageIDs(first)
}

func messageIDs(results []*redis.XMessageSliceCmd) ([]string, error) {
	ids := make([]string, len(results))
	for i, result := range results {
		messages, err := result.Result()
		if err != nil {
			return nil, fmt.Errorf("read outbox %d: %w", i, err)
		}
		if len(messages) > 0 {
			ids[i] = messages[0].ID
		}
	}
	return ids, nil
}
