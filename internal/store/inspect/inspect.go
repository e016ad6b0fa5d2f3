// Package inspect reads a database as it is stored, for the checker; repairs what the checker finds; and
// diagnoses the Redis that the database is on.
package inspect

import (
	"context"
	"fmt"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// Database is what the checker needs: it reads a database and repairs it.
type Database struct {
	*Inspector
	*Repairer
}

// New returns the database of a store.
func New(s *store.Store) Database { return Database{NewInspector(s), NewRepairer(s)} }

// Inspector reads a database as it is stored.
type Inspector struct {
	db        *rdb.DB
	options   store.Options
	timelines *store.Timelines
}

// NewInspector returns an inspector of a database.
func NewInspector(s *store.Store) *Inspector {
	return &Inspector{db: s.DB(), options: s.Options(), timelines: s.Timelines}
}

// Partitions returns how many partitions the database has.
func (s *Inspector) Partitions() int { return len(s.db.Partitions()) }

// PartitionOfUser returns the number of a user's partition.
func (s *Inspector) PartitionOfUser(id retwis.UserID) int { return s.db.OfUser(id).Number }

// lateness is how many entries of a list's end are taken to be out of order because a post
// arrived late, at least.
const lateness = 256

// Lateness is how many entries at the end of a timeline's list may be out of order because
// a post arrived late: what is older than any of them may have left the list.
func (s *Inspector) Lateness() int { return max(lateness, s.options.Slack) }

// HomeCap is how many entries a timeline's list keeps, and Slack by how many it may exceed
// that.
func (s *Inspector) HomeCap() (entries, slack int) { return s.options.HomeCap, s.options.Slack }

// OutboxEnds returns the last entry of every outbox; "" of an empty one.
func (s *Inspector) OutboxEnds(ctx context.Context) ([]string, error) {
	pipe := s.db.Client.Pipeline()
	last := make([]*redis.XMessageSliceCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		last[i] = pipe.XRevRangeN(ctx, p.Outbox(), "+", "-", 1)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	return messageIDs(last)
}

// OutboxStarts returns the first entry of every outbox; "" of an empty one.
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
