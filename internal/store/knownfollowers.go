package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// knownChunk is how many followers one command looks up: in a packed set it searches for
// each from the beginning.
const knownChunk = 100

// KnownFollowers returns one page of those of a user's followers whom a viewer follows:
// the newest follow of the user first, with its time. The total is exact. A cursor of
// another connection is [retwis.ErrBadCursor].
func (s *Store) KnownFollowers(ctx context.Context, of, viewer retwis.UserID, page retwis.Page) (retwis.FollowPage, error) {
	w, err := newSetWalk(retwis.KnownFollowers(of, viewer), page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	found, err := s.knownFollowers(ctx, of, viewer)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("followers of %s whom %s follows: %w", of, viewer, err)
	}
	total := len(found)
	return w.read(ctx, s, w.nearest(found), total)
}

// knownFollowers returns all of them: those a viewer follows are few, the followers of a
// user may be many.
func (s *Store) knownFollowers(ctx context.Context, of, viewer retwis.UserID) ([]edge, error) {
	reach, err := s.Reach(ctx, []retwis.UserID{of})
	if err != nil || len(reach[0].Followers) == 0 {
		return nil, err
	}
	followed, err := s.followed(ctx, retwis.Home(viewer))
	if err != nil {
		return nil, err
	}
	groups := map[partition][]retwis.UserID{}
	for _, user := range followed {
		p := s.of(user)
		if _, ok := reach[0].Followers[p.number]; ok {
			groups[p] = append(groups[p], user)
		}
	}
	pipe := s.client.Pipeline()
	var asked [][]retwis.UserID
	var scores []*redis.FloatSliceCmd
	for p, users := range groups {
		for chunk := range slices.Chunk(users, knownChunk) {
			members := make([]string, len(chunk))
			for i, user := range chunk {
				members[i] = user.String()
			}
			asked = append(asked, chunk)
			scores = append(scores, pipe.ZMScore(ctx, p.followers(of), members...))
		}
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	var found []edge
	for n, users := range asked {
		answers, err := scores[n].Result()
		if err != nil {
			return nil, fmt.Errorf("look up followers: %w", err)
		}
		for i, score := range answers {
			if score > 0 { // it is 0 where there is no such follower
				found = append(found, edge{int64(score), users[i]})
			}
		}
	}
	return found, nil
}
