package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// maxDeadLetters is how many dead letters a partition keeps.
const maxDeadLetters = 10_000

// Bury keeps an entry that could not be carried out, once, for somebody to look at.
func (s *Store) Bury(ctx context.Context, e outbox.Entry, reason string) error {
	args := []any{e.ID, reason, maxDeadLetters}
	for _, field := range fieldNames(e.Fields) {
		args = append(args, field, e.Fields[field])
	}
	if err := s.do(ctx, call{s.scripts.bury, []string{s.partitions[e.Outbox].dead()}, args}).Err(); err != nil {
		return fmt.Errorf("bury entry %s of outbox %d: %w", e.ID, e.Outbox, err)
	}
	return nil
}

// DeadLetters returns every dead letter, by partition and age.
func (s *Store) DeadLetters(ctx context.Context) ([]outbox.DeadLetter, error) {
	var all []outbox.DeadLetter
	for number, p := range s.partitions {
		messages, err := s.client.XRangeN(ctx, p.dead(), "-", "+", maxDeadLetters).Result()
		if err != nil {
			return nil, fmt.Errorf("read the dead letters of partition %d: %w", number, err)
		}
		for _, message := range messages {
			e := outboxEntry(number, redis.XMessage{ID: text(message.Values["entry"]), Values: message.Values})
			delete(e.Fields, "entry")
			reason := e.Fields["reason"]
			delete(e.Fields, "reason")
			all = append(all, outbox.DeadLetter{ID: message.ID, Reason: reason, Entry: e})
		}
	}
	return all, nil
}

// Revive queues a dead letter again and reports whether it was still there. A post may
// have newer ones of its author before it by now, so it is not pushed but merged.
func (s *Store) Revive(ctx context.Context, letter outbox.DeadLetter) (bool, error) {
	p := s.partitions[letter.Entry.Outbox]
	args := []any{letter.ID}
	for _, field := range fieldNames(letter.Entry.Fields) {
		value := letter.Entry.Fields[field]
		if field == "kind" && value == string(outbox.KindPost) {
			value = string(outbox.KindRepair)
		}
		args = append(args, field, value)
	}
	revived, err := s.do(ctx, call{s.scripts.revive, []string{p.dead(), p.outbox()}, args}).Bool()
	if err != nil {
		return false, fmt.Errorf("revive dead letter %s of partition %d: %w", letter.ID, letter.Entry.Outbox, err)
	}
	return revived, nil
}

// Repair merges an author's newest posts into the homes of followers in a partition, or
// into the lists there that hold the author: the next of them by score, after the one
// given, 0 at first. It returns the score of the last one served, and false when there are
// no more.
func (s *Store) Repair(ctx context.Context, author retwis.UserID, number int, to outbox.TargetKind, after int64) (int64, bool, error) {
	const step = 20
	p := s.partitions[number]
	edges, kind := p.followers(author), retwis.HomeTimeline
	if to == outbox.TargetLists {
		edges, kind = p.listed(author), retwis.ListTimeline
	}
	found, err := s.client.ZRangeByScoreWithScores(ctx, edges, &redis.ZRangeBy{
		Min: fmt.Sprintf("(%d", after), Max: "+inf", Count: step,
	}).Result()
	if err != nil {
		return 0, false, fmt.Errorf("repair the timelines that follow %s: %w", author, err)
	}
	for _, follower := range found {
		id, err := retwis.ParseUserID(text(follower.Member))
		if err != nil {
			return 0, false, fmt.Errorf("repair the timelines that follow %s: %w", author, err)
		}
		if err := s.Backfill(ctx, retwis.TimelineID{Kind: kind, Owner: id}, author, 0); err != nil {
			return 0, false, err
		}
		after = int64(follower.Score)
	}
	return after, len(found) == step, nil
}

func fieldNames(fields map[string]string) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
