package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Likes manages the edges between users and the posts that they like. Both directions are in the partition of the user. The
// partition of the post stores how many likers each partition has.
type Likes struct {
	core
	accounts *Accounts
	posts    *Posts
}

// Like makes a user like a post: it writes both directions atomically. A repeat has no effect. It returns
// [retwis.ErrPostNotFound], or [retwis.ErrUnauthenticated] if there is no such user.
func (s *Likes) Like(ctx context.Context, user retwis.UserID, post retwis.PostID) error {
	p := s.db.OfUser(user)
	if exists, err := s.AddLikePartition(ctx, post, p); err != nil {
		return fmt.Errorf("%s likes post %s: %w", user, post, err)
	} else if !exists {
		return retwis.ErrPostNotFound
	}
	return s.change(ctx, user, post, rdb.Call{
		Script: script.Like,
		Keys:   []string{p.User(user).Account(), p.User(user).Likes(), p.Likers(post), p.Clock(), p.ChangedLikes()},
		Args:   []any{user.String(), post.String(), s.options.LikePeriod.Milliseconds()},
	})
}

// AddLikePartition adds a partition to the like partitions of a post and reports whether the post exists. Call it before the
// like is written: the deletion of the post finds its likes by these partitions.
func (s *Likes) AddLikePartition(ctx context.Context, post retwis.PostID, of rdb.Partition) (bool, error) {
	home, ok := s.db.OfPost(post)
	if !ok {
		return false, nil
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.AddLikePartition, Keys: []string{home.Post(post), home.LikePartitions(post)}, Args: []any{of.Number},
	})
	if err != nil {
		return false, err
	}
	return reply.Bool()
}

// Unlike makes a user stop liking a post. A repeat has no effect. It returns [retwis.ErrPostNotFound] if there is no such
// post.
func (s *Likes) Unlike(ctx context.Context, user retwis.UserID, post retwis.PostID) error {
	home, ok := s.db.OfPost(post)
	if !ok {
		return retwis.ErrPostNotFound
	}
	exists, err := s.db.Client.HExists(ctx, home.Post(post), "text").Result()
	if err != nil {
		return fmt.Errorf("%s no longer likes post %s: %w", user, post, err)
	}
	if !exists {
		return retwis.ErrPostNotFound
	}
	p := s.db.OfUser(user)
	return s.change(ctx, user, post, rdb.Call{
		Script: script.Unlike,
		Keys:   []string{p.User(user).Likes(), p.Likers(post), p.Clock(), p.ChangedLikes()},
		Args:   []any{user.String(), post.String(), s.options.LikePeriod.Milliseconds()},
	})
}

// change writes or removes a like, and stores the number of likers unless the worker does so later.
func (s *Likes) change(ctx context.Context, user retwis.UserID, post retwis.PostID, c rdb.Call) error {
	reply, err := s.db.DoDurably(ctx, c)
	if err != nil {
		return fmt.Errorf("%s changes the like of post %s: %w", user, post, err)
	}
	answer, err := reply.Slice()
	switch {
	case err != nil || len(answer) == 0:
		return fmt.Errorf("%s changes the like of post %s: reply %v: %w", user, post, answer, err)
	case answer[0] == "no_user":
		return retwis.ErrUnauthenticated
	case len(answer) != 4:
		return fmt.Errorf("%s changes the like of post %s: reply %v", user, post, answer)
	}
	s.metrics.likes.WithLabelValues(c.Script.Base()).Inc()
	if answer[1] != int64(1) {
		return nil
	}
	count, _ := answer[3].(int64)
	set := s.countCall(post, likersIn{s.db.OfUser(user), rdb.Text(answer[2]), int(count)})
	if err := s.db.Do(ctx, set).Err(); err != nil {
		return fmt.Errorf("count the likes of post %s: %w", post, err)
	}
	return nil
}

// LikeCounts returns the number of likes of posts, in their order, 0 for posts that do not exist.
func (s *Likes) LikeCounts(ctx context.Context, ids []retwis.PostID) ([]int, error) {
	pipe := s.db.Client.Pipeline()
	reads := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		if p, ok := s.db.OfPost(id); ok {
			reads[i] = pipe.HGet(ctx, p.LikePartitions(id), "total")
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // every read holds its own error
	}
	counts := make([]int, len(ids))
	for i, read := range reads {
		if read == nil {
			continue
		}
		count, err := read.Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("count the likes of post %s: %w", ids[i], err)
		}
		counts[i] = count
	}
	return counts, nil
}

// Liked reports for each post whether a user likes it.
func (s *Likes) Liked(ctx context.Context, user retwis.UserID, ids []retwis.PostID) ([]bool, error) {
	liked, err := s.lookUp(ctx, script.LookUpScores, s.db.OfUser(user).User(user).Likes(), ids)
	if err != nil {
		return nil, fmt.Errorf("look up the likes of %s: %w", user, err)
	}
	return liked, nil
}
