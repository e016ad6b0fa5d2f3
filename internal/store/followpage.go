package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
)

// edge is one end of a follow, with its time.
type edge struct {
	score int64 // microseconds since the epoch
	user  retwis.UserID
}

// before orders edges as connections do: newest follow first, then by id. Times are
// unique within a partition only, so the id decides between partitions.
func (e edge) before(other edge) bool {
	if e.score != other.score {
		return e.score > other.score
	}
	return e.user > other.user
}

// beyond reports whether an edge lies on the older or newer side of a place; nil is the
// end of the connection on the other side.
func (e edge) beyond(place *edge, older bool) bool {
	return place == nil || (older && place.before(e)) || (!older && e.before(*place))
}

// FollowPage returns one page of a user's followers, of those the user follows, or of a
// list's members, newest first. Followers are merged over the partitions by time and id, so that pages
// neither skip nor repeat one. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Follows) FollowPage(ctx context.Context, of retwis.FollowConnection, page retwis.Page) (retwis.FollowPage, error) {
	sets, err := s.edgeSets(ctx, of)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	w, err := s.window(ctx, of, sets, page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	return s.accounts.readUsers(ctx, w, func(e edge) retwis.Cursor { return e.cursor(of) })
}

// readUsers reads the users of a window. Those whose account is gone are left out.
func (s *Accounts) readUsers(ctx context.Context, w window, cursor func(edge) retwis.Cursor) (retwis.FollowPage, error) {
	ids := make([]retwis.UserID, len(w.edges))
	for i, e := range w.edges {
		ids[i] = e.user
	}
	users, err := s.Users(ctx, ids)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	result := retwis.FollowPage{TotalCount: w.total, HasNextPage: w.next, HasPreviousPage: w.previous}
	for i, e := range w.edges {
		if users[i] != nil {
			result.Follows = append(result.Follows, retwis.Follow{Cursor: cursor(e), User: users[i], FollowedAt: followedAt(e.score)})
		}
	}
	return result, nil
}

func (e edge) cursor(of retwis.FollowConnection) retwis.Cursor {
	return retwis.FollowPosition{Connection: of, Score: e.score, User: e.user}.Cursor()
}

// window is one page of edges, newest first.
type window struct {
	edges          []edge
	next, previous bool // whether more follow, or precede
	total          int  // edges in all
}

// window reads a page of a connection whose edges are in sorted sets.
func (s *Follows) window(ctx context.Context, of retwis.FollowConnection, sets []string, page retwis.Page) (window, error) {
	older, count, cursor := true, page.First, page.After
	if page.Last > 0 {
		older, count, cursor = false, page.Last, page.Before
	}
	var from *edge
	if cursor != "" {
		at, err := cursor.FollowPosition(of)
		if err != nil {
			return window{}, err
		}
		from = &edge{at.Score, at.User}
	}
	found, total, err := s.nearest(ctx, sets, from, older, count+1)
	if err != nil {
		return window{}, fmt.Errorf("page of connection %d of %s: %w", of.Kind, of.User, err)
	}
	return newWindow(found, total, older, count, from != nil), nil
}

// newWindow makes a page of the edges on one side of a place, nearest first. One more than
// the page holds tells that more follow.
func newWindow(found []edge, total int, older bool, count int, inside bool) window {
	more := len(found) > count
	w := window{edges: found[:min(count, len(found))], total: total, next: more, previous: inside}
	if !older {
		slices.Reverse(w.edges)
		w.next, w.previous = w.previous, w.next
	}
	return w
}

// edgeSets returns the keys of the sorted sets that make up a connection.
func (s *Follows) edgeSets(ctx context.Context, of retwis.FollowConnection) ([]string, error) {
	switch of.Kind {
	case retwis.Following:
		return []string{s.db.OfUser(of.User).User(of.User).Following()}, nil
	case retwis.Members:
		return []string{s.db.OfUser(of.User).List(retwis.ListID(of.User)).Members()}, nil
	case retwis.Followers, retwis.OwnLists:
	}
	reach, err := s.AuthorPartitions(ctx, []retwis.UserID{of.User})
	if err != nil {
		return nil, err
	}
	var sets []string
	for number := range reach[0].Followers {
		sets = append(sets, s.db.Partition(number).User(of.User).Followers())
	}
	return sets, nil
}

// nearest returns up to count edges of several sets from a place on, nearest first, and
// how many edges the sets hold.
func (s *core) nearest(ctx context.Context, sets []string, from *edge, older bool, count int) ([]edge, int, error) {
	if len(sets) == 0 {
		return nil, 0, nil
	}
	// In a set at most one edge has the time of the place: with one more asked for, that
	// one can be dropped here, where the id tells on which side it is.
	by := redis.ZRangeBy{Min: "-inf", Max: "+inf", Count: int64(count + 1)}
	if from != nil && older {
		by.Max = strconv.FormatInt(from.score, 10)
	} else if from != nil {
		by.Min = strconv.FormatInt(from.score, 10)
	}
	pipe := s.db.Client.Pipeline()
	ranges := make([]*redis.ZSliceCmd, len(sets))
	sizes := make([]*redis.IntCmd, len(sets))
	for i, set := range sets {
		if older {
			ranges[i] = pipe.ZRevRangeByScoreWithScores(ctx, set, &by)
		} else {
			ranges[i] = pipe.ZRangeByScoreWithScores(ctx, set, &by)
		}
		sizes[i] = pipe.ZCard(ctx, set)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error

	var found []edge
	total := 0
	for i := range sets {
		members, err := ranges[i].Result()
		if err != nil {
			return nil, 0, err
		}
		size, err := sizes[i].Result()
		if err != nil {
			return nil, 0, err
		}
		total += int(size)
		for _, m := range members {
			id, err := retwis.ParseUserID(rdb.Text(m.Member))
			if err != nil {
				return nil, 0, err
			}
			e := edge{int64(m.Score), id}
			if e.beyond(from, older) {
				found = append(found, e)
			}
		}
	}
	return nearestFirst(found, older, count), total, nil
}

// nearestFirst sorts edges on one side of a place and keeps the nearest of them.
func nearestFirst(edges []edge, older bool, count int) []edge {
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a == b:
			return 0
		case a.before(b) == older:
			return -1
		default:
			return 1
		}
	})
	return edges[:min(count, len(edges))]
}

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
func (w setWalk) read(ctx context.Context, accounts *Accounts, nearest []edge, total int) (retwis.FollowPage, error) {
	page := newWindow(nearest, total, w.older, w.count-1, w.from != nil)
	return accounts.readUsers(ctx, page, func(e edge) retwis.Cursor {
		return retwis.UserSetPosition{Set: w.set, Score: e.score, User: e.user}.Cursor()
	})
}
