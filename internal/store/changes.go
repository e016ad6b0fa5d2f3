package store

import (
	"context"
	"fmt"
	"time"

	"retwis/internal/postcache"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

const (
	pageChanges     = 100             // changes that the read of a list returns at most
	followedChanges = 1000            // changes that [Posts.Cache] reads at once
	followInterval  = 5 * time.Second // time between its reads
	changesWork     = 300             // of one of them, in pushes: up to 2 ms
)

// Cache caches posts in so many bytes until ctx is done; 0 caches none. It applies the changes of all partitions now and
// then, so that reads of lists find few. Only these reads must see every change.
func (s *Posts) Cache(ctx context.Context, most int) error {
	for most > 0 {
		if err := s.ApplyChanges(ctx, most); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "store: reading the changes of partitions failed", "err", err)
		}
		if sleep.For(ctx, followInterval) != nil {
			return nil //nolint:nilerr // a canceled context is no failure
		}
	}
	<-ctx.Done()
	return nil
}

// ApplyChanges applies the changes of all partitions to the cache of posts. It starts the cache, with so many bytes, once it
// has read the last change of every partition.
func (s *Posts) ApplyChanges(ctx context.Context, most int) error {
	partitions := s.db.Partitions()
	calls := make([]rdb.Call, len(partitions))
	positions := make([]retwis.ChangeID, len(partitions))
	on := false
	for i, p := range partitions {
		positions[i], on = s.cache.Position(p.Number)
		calls[i] = rdb.Call{
			Script: script.ChangesSince, Keys: []string{p.Changes()}, Args: []any{positionArg(positions[i], on), followedChanges}, Work: changesWork,
		}
	}
	var failed error
	last := make([]retwis.ChangeID, len(partitions))
	for i, result := range s.db.DoInPieces(ctx, calls) {
		reply, err := result.Slice()
		if err == nil && len(reply) != 2 {
			err = fmt.Errorf("%d fields", len(reply))
		}
		if err == nil {
			last[i], err = rdb.ChangeID(rdb.Text(reply[0]))
		}
		if err == nil && on {
			var changes postcache.Changes
			if changes, err = parseChanges(positions[i], last[i], reply[1]); err == nil {
				s.cache.Apply(i, changes)
			}
		}
		if err != nil {
			failed = fmt.Errorf("read the changes of partition %d: %w", i, err)
		}
	}
	if failed == nil && !on {
		s.cache.Start(last, most)
	}
	return failed
}

// positionArg returns the argument of lib/changes.lua for a position; without one, the script returns no changes.
func positionArg(position retwis.ChangeID, known bool) string {
	if !known {
		return ""
	}
	return position.String()
}

// parseChanges parses the changes that lib/changes.lua returned for a position.
func parseChanges(from, last retwis.ChangeID, reply any) (postcache.Changes, error) {
	fields, _ := reply.([]any)
	if len(fields)%2 != 1 {
		return postcache.Changes{}, fmt.Errorf("%d fields of changes", len(fields))
	}
	changes := postcache.Changes{From: from, Last: last, Complete: rdb.Text(fields[0]) == "1"}
	for i := 1; i < len(fields); i += 2 {
		switch rdb.Text(fields[i]) {
		case "removed", "hidden", "restored":
			post, err := retwis.ParsePostID(rdb.Text(fields[i+1]))
			if err != nil {
				return postcache.Changes{}, err
			}
			changes.Posts = append(changes.Posts, post)
		default:
			changes.Others = true
		}
	}
	return changes, nil
}
