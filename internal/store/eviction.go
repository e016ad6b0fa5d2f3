package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Sweeps evicts timelines that nobody reads, and drops hashtags that nobody uses.
type Sweeps struct {
	core
	tags *Tags
}

const day = 24 * time.Hour

// EvictIdle evicts homes and timelines of lists that nobody has read for [Options.IdleHomeAge] and nobody watches. The
// next read rebuilds them. It drops hashtags that no post has used for [Options.IdleTagAge] and nobody watches, with their
// timelines. It scans all keys in small steps, and after each step calls pause with the number of
// timelines checked, and of those evicted or dropped. An error of pause ends the sweep. A complete sweep checks every timeline that
// exists throughout; an interrupted one cannot be continued.
func (s *Sweeps) EvictIdle(ctx context.Context, pause func(ctx context.Context, checked, evicted int) error) error {
	if s.options.IdleHomeAge < 0 && s.options.IdleTagAge < 0 {
		return nil
	}
	masters, err := s.db.Masters(ctx)
	if err != nil {
		return fmt.Errorf("sweep idle timelines: %w", err)
	}
	for _, master := range masters {
		for cursor, end := uint64(0), false; !end; end = cursor == 0 {
			var keys []string
			if keys, cursor, err = master.Scan(ctx, cursor, "{*}:[hlt][oia][msg][et:]*", rdb.ScanStep).Result(); err != nil {
				return fmt.Errorf("sweep idle timelines: scan the keys: %w", err)
			}
			checked, evicted, err := s.evict(ctx, keys)
			if err != nil {
				return fmt.Errorf("sweep idle timelines: %w", err)
			}
			tags := s.tagsAmong(keys)
			dropped, err := s.tags.dropIdle(ctx, tags)
			if err != nil {
				return fmt.Errorf("sweep idle hashtags: %w", err)
			}
			if err := pause(ctx, checked+len(tags), evicted+dropped); err != nil {
				return err
			}
		}
	}
	return nil
}

// evict evicts the timelines among some keys that are idle.
func (s *Sweeps) evict(ctx context.Context, keys []string) (checked, evicted int, err error) {
	var calls []rdb.Call
	for _, key := range keys {
		id, ok := s.timelineOfKey(key)
		if !ok || s.options.IdleHomeAge < 0 {
			continue
		}
		p := s.db.OfTimeline(id)
		c := rdb.Call{
			Script: script.EvictIdle,
			Keys:   []string{key, p.Timeline(id).Epoch(), p.Online()},
			Args:   []any{id.String(), int(s.options.IdleHomeAge / day)},
		}
		if id.Kind == retwis.HomeTimeline {
			c.Keys = append(c.Keys, p.User(id.Owner).PullWatermarks())
		}
		calls = append(calls, c)
	}
	for _, reply := range s.db.DoAll(ctx, calls) {
		n, err := reply.Int()
		if err != nil {
			return 0, 0, err
		}
		evicted += n
	}
	return len(calls), evicted, nil
}

// timelineOfKey returns the timeline whose entries a key holds, false if the key is not of a home or a list.
func (s *Sweeps) timelineOfKey(key string) (retwis.TimelineID, bool) {
	_, rest, _ := strings.Cut(key, "}:")
	kind, value, _ := strings.Cut(rest, ":")
	id := retwis.TimelineID{Kind: retwis.HomeTimeline}
	switch kind {
	case "home":
	case "list":
		id.Kind = retwis.ListTimeline
		var posts bool
		if value, posts = strings.CutSuffix(value, rdb.ListPostsSuffix); !posts {
			return id, false
		}
	default:
		return id, false
	}
	var err error
	id.Owner, err = retwis.ParseUserID(value)
	return id, err == nil && s.db.OfTimeline(id).Timeline(id).Entries() == key
}

// tagsAmong returns the hashtags whose records are among some keys.
func (s *Sweeps) tagsAmong(keys []string) []retwis.TagID {
	var tags []retwis.TagID
	for _, key := range keys {
		_, rest, _ := strings.Cut(key, "}:")
		value, found := strings.CutPrefix(rest, string(rdb.TagKeys)+":")
		if id, err := retwis.ParseTagID(value); found && err == nil && s.db.OfBucket(id.Bucket()).Hashtag(id).Record() == key {
			tags = append(tags, id)
		}
	}
	return tags
}

// AcquireSweep acquires or renews the lease of the sweep for a worker. It reports false if another worker holds the
// lease, or if the last sweep ended within the interval.
func (s *Sweeps) AcquireSweep(ctx context.Context, worker string, lease, every time.Duration) (bool, error) {
	held, err := s.db.Do(ctx, rdb.Call{
		Script: script.AcquireSweep, Keys: []string{rdb.SweepKey}, Args: []any{worker, lease.Milliseconds(), every.Milliseconds()},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("acquire the lease of the sweep: %w", err)
	}
	return held, nil
}

// ReleaseSweep releases the lease of the sweep if the worker holds it. A complete sweep starts the interval until the
// next one.
func (s *Sweeps) ReleaseSweep(ctx context.Context, worker string, complete bool) error {
	swept := "0"
	if complete {
		swept = "1"
	}
	if err := s.db.Do(ctx, rdb.Call{Script: script.ReleaseSweep, Keys: []string{rdb.SweepKey}, Args: []any{worker, swept}}).Err(); err != nil {
		return fmt.Errorf("release the lease of the sweep: %w", err)
	}
	return nil
}
