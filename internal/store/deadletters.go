package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// DeadLetterQueue keeps the entries that failed permanently, until an operator returns or removes them.
type DeadLetterQueue struct{ core }

// maxDeadLetters is the number of dead letters that a partition keeps.
const maxDeadLetters = 10_000

// AddDeadLetter adds an entry that failed permanently to the dead-letter queue. A repeat has no effect.
func (s *DeadLetterQueue) AddDeadLetter(ctx context.Context, e outbox.Entry, reason string) error {
	args := []any{e.ID, reason, maxDeadLetters}
	for _, field := range fieldNames(e.Fields) {
		args = append(args, field, e.Fields[field])
	}
	if err := s.db.Do(ctx, rdb.Call{Script: script.AddDeadLetter, Keys: []string{s.db.Partition(e.Outbox).DeadLetters()}, Args: args}).Err(); err != nil {
		return fmt.Errorf("add entry %s of outbox %d to the dead-letter queue: %w", e.ID, e.Outbox, err)
	}
	return nil
}

// DeadLetters returns all dead letters, by partition and age.
func (s *DeadLetterQueue) DeadLetters(ctx context.Context) ([]outbox.DeadLetter, error) {
	var all []outbox.DeadLetter
	for number, p := range s.db.Partitions() {
		messages, err := s.db.Client.XRangeN(ctx, p.DeadLetters(), "-", "+", maxDeadLetters).Result()
		if err != nil {
			return nil, fmt.Errorf("read the dead letters of partition %d: %w", number, err)
		}
		for _, message := range messages {
			e := outboxEntry(number, redis.XMessage{ID: rdb.Text(message.Values["entry"]), Values: message.Values})
			delete(e.Fields, "entry")
			reason := e.Fields["reason"]
			delete(e.Fields, "reason")
			all = append(all, outbox.DeadLetter{ID: message.ID, Reason: reason, Entry: e})
		}
	}
	return all, nil
}

// Requeue puts a dead letter back into its outbox, and reports whether it still existed. A post becomes a repair
// entry, because newer posts of its author may have been delivered: it has to be merged, not pushed.
func (s *DeadLetterQueue) Requeue(ctx context.Context, letter outbox.DeadLetter) (bool, error) {
	p := s.db.Partition(letter.Entry.Outbox)
	args := []any{letter.ID}
	for _, field := range fieldNames(letter.Entry.Fields) {
		value := letter.Entry.Fields[field]
		if field == "kind" && value == string(outbox.KindPost) {
			value = string(outbox.KindRepair)
		}
		args = append(args, field, value)
	}
	requeued, err := s.db.Do(ctx, rdb.Call{Script: script.Requeue, Keys: []string{p.DeadLetters(), p.Outbox()}, Args: args}).Bool()
	if err != nil {
		return false, fmt.Errorf("requeue dead letter %s of partition %d: %w", letter.ID, letter.Entry.Outbox, err)
	}
	return requeued, nil
}

func fieldNames(fields map[string]string) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
