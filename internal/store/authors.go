package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
)

// Bounds of what is remembered of authors.
const (
	authorTTL  = time.Second
	maxAuthors = 16384 // twice as many at most: about 10 MB
)

// Authors is [Store.Users] for those whose names and profiles stand beside posts: it may
// answer from memory. What a user says about themselves is what it was a second ago, or
// later; it is as new as [Store.WatchAuthors] has heard. Their counts may be of any time.
func (s *Accounts) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return s.authors.get(ctx, ids, s.Users)
}

// WatchAuthors forgets authors whose profiles change, on whatever node, until ctx is done.
func (s *Accounts) WatchAuthors(ctx context.Context) error {
	return s.db.Listen(ctx, false, rdb.AuthorsChannel, func(payload string, joined bool) {
		if err := s.authors.handleMessage(payload, joined); err != nil {
			s.log.WarnContext(ctx, "a message about an author makes no sense", "err", err)
		}
	})
}

// authorCache remembers users for a moment. They are shared: nobody may change them.
type authorCache struct {
	mu      sync.Mutex
	recent  map[retwis.UserID]author
	older   map[retwis.UserID]author // recent when it was full
	changes int                      // how often something was forgotten
}

type author struct {
	user *retwis.User // nil where there is none
	read time.Time    // or a little later
}

// get returns users in the order of the ids, from memory or by read.
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
		return nil, fmt.Errorf("%d users were read for %d authors", len(found), len(unknown))
	}
	for i, at := range missing {
		users[at] = found[i]
	}
	c.add(now, unknown, found, changes)
	return users, nil
}

// find fills in the users that are known, and returns the positions of the others.
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

// add keeps what was read, unless something changed meanwhile: the read may have come
// before the change.
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

// handleMessage takes a message about an author, or that messages will come from now on.
func (c *authorCache) handleMessage(payload string, joined bool) error {
	if joined {
		c.invalidateAll() // some may have changed unheard before
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
