package store

import (
	"context"
	"fmt"
	"time"

	"retwis/internal/retwis"
)

// NewestUsers returns one page of the accounts made last, newest first. Each partition
// lists its newest, so the list as a whole holds at least as many of the newest; the
// total is how many it holds. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Store) NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error) {
	w, err := newSetWalk(retwis.NewestUsers(), page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	sets := make([]string, len(s.partitions))
	for i, p := range s.partitions {
		sets[i] = p.newestUsers()
	}
	found, total, err := s.nearest(ctx, sets, w.from, w.older, w.count)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("newest users: %w", err)
	}
	users, err := w.read(ctx, s, found, total)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("newest users: %w", err)
	}
	for i := range users.Follows {
		users.Follows[i].FollowedAt = time.Time{} // no follow put them here
	}
	return users, nil
}
