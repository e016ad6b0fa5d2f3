package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// chunksAtOnce bounds the work of one pipeline, in full chunks: a server may run the whole pipeline before it serves
// another client.
const chunksAtOnce = 4

// rowsPerFollower is what a follower counts for that a script walks over: it is read, looked up in another set, and perhaps
// sorted.
const rowsPerFollower = 3

// CommonFollowers returns one page of the users who follow both users, ordered by the time they followed the first one,
// newest first. The total is exact. Redis intersects the sets in steps and returns only the users that the page needs. A
// cursor of another connection is [retwis.ErrBadCursor].
func (s *Follows) CommonFollowers(ctx context.Context, of, with retwis.UserID, page retwis.Page) (retwis.FollowPage, error) {
	w, err := newSetWalk(retwis.CommonFollowers(of, with), page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	found, total, err := s.intersect(ctx, of, with, w)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("common followers of %s and %s: %w", of, with, err)
	}
	return w.read(ctx, s.accounts, found, total)
}

// intersection is the state of the scan for common followers in one partition.
type intersection struct {
	partition rdb.Partition
	length    int    // estimated number of followers to scan
	scanned   string // the set to scan; '' until the first call has selected one
	at        string // score scanned up to
}

// intersect counts the common followers of two users, and returns those nearest to the start of a page.
func (s *Follows) intersect(ctx context.Context, of, with retwis.UserID, w setWalk) ([]edge, int, error) {
	partitions, err := s.AuthorPartitions(ctx, []retwis.UserID{of, with})
	if err != nil {
		return nil, 0, err
	}
	var todo []intersection
	for number, count := range partitions[0].Followers {
		if other, ok := partitions[1].Followers[number]; ok {
			todo = append(todo, intersection{partition: s.db.Partition(number), length: min(count, other)})
		}
	}
	var found []edge
	total := 0
	for len(todo) > 0 {
		n, sent := 0, 0
		for n < len(todo) && sent < chunksAtOnce*s.options.Chunk {
			sent += min(todo[n].length, s.options.Chunk)
			n++
		}
		if err := cost.Walk(ctx, rowsPerFollower*sent); err != nil {
			return nil, 0, err
		}
		calls := make([]rdb.Call, n)
		for i, part := range todo[:n] {
			calls[i] = s.intersectCall(of, with, w, part)
		}
		results := s.db.DoAll(ctx, calls)
		rest := todo[n:]
		for i, result := range results {
			part, edges, common, err := parseIntersection(todo[i], result)
			if err != nil {
				return nil, 0, err
			}
			total += common
			found = append(found, edges...)
			if part.at != "" {
				rest = append(rest, part)
			}
		}
		todo = rest
		found = w.nearest(found)
	}
	return found, total, nil
}

func (s *Follows) intersectCall(of, with retwis.UserID, w setWalk, part intersection) rdb.Call {
	start, direction := "", "older"
	if w.from != nil {
		start = strconv.FormatInt(w.from.score, 10)
	}
	if !w.older {
		direction = "newer"
	}
	p := part.partition
	return rdb.Call{
		Script: script.CommonFollowers,
		Keys:   []string{p.User(of).Followers(), p.User(with).Followers()},
		// At most one edge of a partition has the time of the start. It may be outside the page, so one more
		// is requested.
		Args: []any{part.scanned, part.at, s.options.Chunk, start, direction, w.count + 1},
	}
}

func parseIntersection(part intersection, result *redis.Cmd) (intersection, []edge, int, error) {
	reply, err := result.Slice()
	if err != nil || len(reply) != 5 {
		return part, nil, 0, fmt.Errorf("reply %v: %w", reply, err)
	}
	part.scanned, part.at = rdb.Text(reply[0]), rdb.Text(reply[1])
	common, _ := reply[2].(int64)
	members, _ := reply[3].([]any)
	var edges []edge
	for i := 0; i+1 < len(members); i += 2 {
		user, err := retwis.ParseUserID(rdb.Text(members[i]))
		if err != nil {
			return part, nil, 0, err
		}
		score, err := strconv.ParseFloat(rdb.Text(members[i+1]), 64)
		if err != nil {
			return part, nil, 0, fmt.Errorf("the follow of %s: %w", user, err)
		}
		edges = append(edges, edge{int64(score), user})
	}
	return part, edges, int(common), nil
}

// KnownFollowers returns one page of the followers of a user that the viewer also follows, newest follow of the user
// first, with its time. The total is exact. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Follows) KnownFollowers(ctx context.Context, of, viewer retwis.UserID, page retwis.Page) (retwis.FollowPage, error) {
	w, err := newSetWalk(retwis.KnownFollowers(of, viewer), page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	found, err := s.knownFollowers(ctx, of, viewer)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("followers of %s whom %s follows: %w", of, viewer, err)
	}
	total := len(found)
	return w.read(ctx, s.accounts, w.nearest(found), total)
}

// knownFollowers looks up every user whom the viewer follows, because these are few, while the followers of a user
// may be many.
func (s *Follows) knownFollowers(ctx context.Context, of, viewer retwis.UserID) ([]edge, error) {
	partitions, err := s.AuthorPartitions(ctx, []retwis.UserID{of})
	if err != nil || len(partitions[0].Followers) == 0 {
		return nil, err
	}
	followed, _, err := s.followed(ctx, retwis.Home(viewer))
	if err != nil {
		return nil, err
	}
	groups := map[rdb.Partition][]retwis.UserID{}
	for _, user := range followed {
		p := s.db.OfUser(user)
		if _, ok := partitions[0].Followers[p.Number]; ok {
			groups[p] = append(groups[p], user)
		}
	}
	var calls []rdb.Call
	var asked [][]retwis.UserID
	for p, users := range groups {
		asked = slices.AppendSeq(asked, slices.Chunk(users, lookupChunk))
		calls = append(calls, lookUpCalls(script.LookUpScores, p.User(of).Followers(), users)...)
	}
	var found []edge
	for n, result := range s.db.DoAll(ctx, calls) {
		scores, err := lookedUp(result)
		if err != nil {
			return nil, fmt.Errorf("look up followers: %w", err)
		}
		for i, score := range scores {
			if at := rdb.Score(score); at > 0 {
				found = append(found, edge{at, asked[n][i]})
			}
		}
	}
	return found, nil
}
