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

// Sweeps remove timelines that nobody reads.
type Sweeps struct{ core }

const day = 24 * time.Hour

// EvictIdle removes the lists of homes and of lists of users that nobody has read for
// [Options.IdleHomeAge] and nobody watches: their next readers build them. It goes over all
// keys in small steps, and calls pause after each with how many lists it has looked at and
// removed in it; an error of pause ends the sweep. What is there all the while is looked at
// at least once. A sweep that broke off is begun again.
func (s *Sweeps) EvictIdle(ctx context.Context, pause func(ctx context.Context, looked, removed int) error) error {
	if s.options.IdleHomeAge < 0 {
		return nil
	}
	masters, err := s.db.Masters(ctx)
	if err != nil {
		return fmt.Errorf("sweep idle timelines: %w", err)
	}
	for _, master := range masters {
		for cursor, end := uint64(0), false; !end; end = cursor == 0 {
			var keys []string
			if keys, cursor, err = master.Scan(ctx, cursor, "{*}:[hl][oi][ms][et]:*", rdb.ScanStep).Result(); err != nil {
				return fmt.Errorf("sweep idle timelines: scan the keys: %w", err)
			}
			looked, removed, err := s.evict(ctx, keys)
			if err != nil {
				return fmt.Errorf("sweep idle timelines: %w", err)
			}
			if err := pause(ctx, looked, removed); err != nil {
				return err
			}
		}
	}
	return nil
}

// evict removes those of some lists that are idle.
func (s *Sweeps) evict(ctx context.Context, keys []string) (looked, removed int, err error) {
	var calls []rdb.Call
	for _, key := range keys {
		id, ok := s.timelineOfKey(key)
		if !ok {
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
		removed += n
	}
	return len(calls), removed, nil
}

// timelineOfKey returns the timeline whose entries a key holds, false when it is no key of a home or
// of a list of users.
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

// AcquireSweep gives a worker the turn to sweep, or lets it keep the turn, for a while. It
// reports false when another one has it, or the last sweep ended less than every ago.
func (s *Sweeps) AcquireSweep(ctx context.Context, worker string, lease, every time.Duration) (bool, error) {
	turn, err := s.db.Do(ctx, rdb.Call{
		Script: script.AcquireSweep, Keys: []string{rdb.SweepKey}, Args: []any{worker, lease.Milliseconds(), every.Milliseconds()},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("take the turn to sweep: %w", err)
	}
	return turn, nil
}

// ReleaseSweep gives the turn to sweep back, if the worker has it, and says whether everything
// was swept.
func (s *Sweeps) ReleaseSweep(ctx context.Context, worker string, whole bool) error {
	swept := "0"
	if whole {
		swept = "1"
	}
	if err := s.db.Do(ctx, rdb.Call{Script: script.ReleaseSweep, Keys: []string{rdb.SweepKey}, Args: []any{worker, swept}}).Err(); err != nil {
		return fmt.Errorf("end a sweep: %w", err)
	}
	return nil
}
