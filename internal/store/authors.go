package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
)

// Bounds of the cache of authors.
const (
	authorTTL  = time.Second
	maxAuthors = 16384 // twice as many at most: about 10 MB
)

// Authors returns users like [Accounts.Users], but from a cache. They are at most a second old; names and profiles are
// also not older than the last message that [Accounts.WatchAuthors] has received.
func (s *Accounts) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return s.authors.get(ctx, ids, s.Users)
}

// WatchAuthors removes authors from the cache when a process changes their profile, until ctx is done.
func (s *Accounts) WatchAuthors(ctx context.Context) error {
	return s.db.Listen(ctx, false, rdb.AuthorsChannel, func(payload string, joined bool) {
		if err := s.authors.handleMessage(payload, joined); err != nil {
			s.log.WarnContext(ctx, "ignoring a malformed message about an author", "err", err)
		}
	})
}

// authorCache caches users for a short time. Callers share them and must not change them.
type authorCache struct {
	mu      sync.Mutex
	recent  map[retwis.UserID]author
	older   map[retwis.UserID]author // recent when it was full
	changes int                      // number of invalidations
}

type author struct {
	user *retwis.User // nil if there is no such user
	read time.Time    // time before the read
}

// get returns users in the order of the ids, from the cache or by read.
func (c *authorCache) get(
	ctx context.Context, ids []retwis.UserID, read func(context.Context, []retwis.UserID) ([]*retwis.User, error),
) ([]*retwis.User, error) {
	users := make([]*retwis.User, len(ids))
	now := time.Now()
	missing, changes := c.find(now, ids, users)
	if len(missing) == 0 {
		return users, nil
	}
	unknown := make([]retwis.UserID, len(missing))
	for i, at := range missing {
		unknown[i] = ids[at]
	}
	found, err := read(ctx, unknown)
	if err != nil {
		return nil, err
	}
	if len(found) != len(unknown) {
		return nil, fmt.Errorf("read returned %d users for %d ids", len(found), len(unknown))
	}
	for i, at := range missing {
		users[at] = found[i]
	}
	c.add(now, unknown, found, changes)
	return users, nil
}

// find fills in the cached users and returns the indexes of the others.
func (c *authorCache) find(now time.Time, ids []retwis.UserID, users []*retwis.User) (missing []int, changes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range ids {
		known, ok := c.recent[id]
		if !ok {
			known, ok = c.older[id]
		}
		if ok && now.Sub(known.read) < authorTTL {
			users[i] = known.user
		} else {
			missing = append(missing, i)
		}
	}
	return missing, c.changes
}

// add caches users, unless there was an invalidation since changes was read: the users may have been read before
// the change.
func (c *authorCache) add(now time.Time, ids []retwis.UserID, users []*retwis.User, changes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	for i, id := range ids {
		if c.recent == nil || len(c.recent) >= maxAuthors {
			c.recent, c.older = make(map[retwis.UserID]author), c.recent
		}
		c.recent[id] = author{users[i], now}
	}
}

// handleMessage handles a message about a changed author, or the begin of a subscription.
func (c *authorCache) handleMessage(payload string, joined bool) error {
	if joined {
		c.invalidateAll() // messages may have been lost before
		return nil
	}
	id, err := retwis.ParseUserID(payload)
	if err != nil {
		return err
	}
	c.invalidate(id)
	return nil
}

func (c *authorCache) invalidate(id retwis.UserID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.recent, id)
	delete(c.older, id)
}

func (c *authorCache) invalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.recent, c.older = nil, nil
}
