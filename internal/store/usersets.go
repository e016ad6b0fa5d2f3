package store

import (
	"context"

	"retwis/internal/retwis"
)

// setWalk is the way of one page through a set of users.
type setWalk struct {
	set   retwis.UserSet
	from  *edge // the place the page begins at; nil for an end of the set
	older bool
	count int // edges to find: one more than the page holds
}

func newSetWalk(set retwis.UserSet, page retwis.Page) (setWalk, error) {
	w := setWalk{set: set, older: true, count: page.First + 1}
	cursor := page.After
	if page.Last > 0 {
		w.older, w.count, cursor = false, page.Last+1, page.Before
	}
	if cursor != "" {
		at, err := cursor.UserSetPosition(set)
		if err != nil {
			return w, err
		}
		w.from = &edge{at.Score, at.User}
	}
	return w, nil
}

// nearest returns those of some edges that the page may hold, and one that tells that
// more follow, nearest first.
func (w setWalk) nearest(edges []edge) []edge {
	kept := edges[:0]
	for _, e := range edges {
		if e.beyond(w.from, w.older) {
			kept = append(kept, e)
		}
	}
	return nearestFirst(kept, w.older, w.count)
}

// read makes the page of the nearest edges.
func (w setWalk) read(ctx context.Context, s *Store, nearest []edge, total int) (retwis.FollowPage, error) {
	page := newWindow(nearest, total, w.older, w.count-1, w.from != nil)
	return s.people(ctx, page, func(e edge) retwis.Cursor {
		return retwis.UserSetPosition{Set: w.set, Score: e.score, User: e.user}.Cursor()
	})
}
