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

// edge is a member of a connection of users or lists, with its time.
type edge struct {
	score int64 // microseconds since 1970
	user  retwis.UserID
}

// before reports whether an edge comes before another in a connection: newest first, then by id. Times are unique
// only within a partition.
func (e edge) before(other edge) bool {
	if e.score != other.score {
		return e.score > other.score
	}
	return e.user > other.user
}

// beyond reports whether an edge is older, or newer, than start. A nil start includes all edges.
func (e edge) beyond(start *edge, older bool) bool {
	return start == nil || (older && start.before(e)) || (!older && e.before(*start))
}

// FollowPage returns one page of the followers of a user, of the users followed, or of the members of a list, newest
// first. Followers of all partitions are merged by time and id, so that pages neither skip nor repeat one. A
// cursor of another connection is [retwis.ErrBadCursor].
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

// readUsers returns the page of a window. It omits users who no longer exist.
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
	next, previous bool // whether there are pages after and before
	total          int  // number of edges of the connection
}

// window reads a page of a connection whose edges are in sorted sets.
func (s *Follows) window(ctx context.Context, of retwis.FollowConnection, sets []string, page retwis.Page) (window, error) {
	older, count, cursor := page.Direction()
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

// newWindow returns the page of the edges nearest to its start, in this order. If found has more than count edges,
// another page follows.
func newWindow(found []edge, total int, older bool, count int, inside bool) window {
	more := len(found) > count
	w := window{edges: found[:min(count, len(found))], total: total, next: more, previous: inside}
	if !older {
		slices.Reverse(w.edges)
		w.next, w.previous = w.previous, w.next
	}
	return w
}

// edgeSets returns the keys of the sorted sets of a connection.
func (s *Follows) edgeSets(ctx context.Context, of retwis.FollowConnection) ([]string, error) {
	switch of.Kind {
	case retwis.Following:
		return []string{s.db.OfUser(of.User).User(of.User).Following()}, nil
	case retwis.Members:
		return []string{s.db.OfUser(of.User).List(retwis.ListID(of.User)).Members()}, nil
	case retwis.Followers, retwis.OwnLists:
	}
	partitions, err := s.AuthorPartitions(ctx, []retwis.UserID{of.User})
	if err != nil {
		return nil, err
	}
	var sets []string
	for number := range partitions[0].Followers {
		sets = append(sets, s.db.Partition(number).User(of.User).Followers())
	}
	return sets, nil
}

// nearest returns up to count edges of several sets, nearest to from first, and the number of edges of the sets.
func (s *core) nearest(ctx context.Context, sets []string, from *edge, older bool, count int) ([]edge, int, error) {
	if len(sets) == 0 {
		return nil, 0, nil
	}
	// At most one edge of a set has the time of from. It may be outside the page, depending on its id, so one
	// more is read.
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

// nearestFirst sorts edges, nearest first, and returns the first count of them.
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

// setWalk selects one page of a set of users.
type setWalk struct {
	set   retwis.UserSet
	from  *edge // the edge before the page; nil for an end of the set
	older bool
	count int // edges to find: one more than the page size
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

// nearest returns the edges of the page, nearest first, and one more if another page follows.
func (w setWalk) nearest(edges []edge) []edge {
	kept := edges[:0]
	for _, e := range edges {
		if e.beyond(w.from, w.older) {
			kept = append(kept, e)
		}
	}
	return nearestFirst(kept, w.older, w.count)
}

// read returns the page of the nearest edges.
func (w setWalk) read(ctx context.Context, accounts *Accounts, nearest []edge, total int) (retwis.FollowPage, error) {
	page := newWindow(nearest, total, w.older, w.count-1, w.from != nil)
	return accounts.readUsers(ctx, page, func(e edge) retwis.Cursor {
		return retwis.UserSetPosition{Set: w.set, Score: e.score, User: e.user}.Cursor()
	})
}
