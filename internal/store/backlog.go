package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Backlog is what an outbox holds.
type Backlog struct {
	Oldest  time.Duration // age of the oldest entry, by the clock of its Redis; 0 where there is none
	Entries int64
}

// backlogAge is how old an answer about the outboxes may be: many may ask.
const backlogAge = time.Second

// backlogs remembers the last answer.
type backlogs struct {
	mu   sync.Mutex
	read time.Time
	all  []Backlog
}

// Backlogs returns what the outboxes hold, by partition, as it was a second ago at most.
// Entries that are carried out count until they are trimmed, which waits for those before
// them.
func (s *Store) Backlogs(ctx context.Context) ([]Backlog, error) {
	b := &s.backlogs
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.read.IsZero() && time.Since(b.read) < backlogAge {
		return b.all, nil
	}
	calls := make([]call, len(s.partitions))
	for i, p := range s.partitions {
		calls[i] = call{s.scripts.backlog, []string{p.outbox()}, nil}
	}
	all := make([]Backlog, len(calls))
	for i, reply := range s.doAll(ctx, calls) {
		numbers, err := reply.Int64Slice()
		if err == nil && len(numbers) != 2 {
			err = fmt.Errorf("reply %v", numbers)
		}
		if err != nil {
			return nil, fmt.Errorf("look into outbox %d: %w", i, err)
		}
		all[i] = Backlog{Oldest: time.Duration(numbers[0]) * time.Millisecond, Entries: numbers[1]}
	}
	b.all, b.read = all, time.Now()
	return all, nil
}

// CheckBacklog returns an error when an outbox holds an entry that is older than a bound.
func (s *Store) CheckBacklog(ctx context.Context, oldest time.Duration) error {
	all, err := s.Backlogs(ctx)
	if err != nil {
		return err
	}
	for number, b := range all {
		if b.Oldest > oldest {
			return fmt.Errorf("the oldest of %d entries of outbox %d is %s old, and may be %s: see that workers run and keep up",
				b.Entries, number, b.Oldest.Round(time.Millisecond), oldest)
		}
	}
	return nil
}
