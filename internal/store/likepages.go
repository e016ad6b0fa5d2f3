package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// LikerPage returns one page of the users who like a post, newest like first. Likers of all partitions are merged by time and
// id. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Likes) LikerPage(ctx context.Context, post retwis.PostID, page retwis.Page) (retwis.LikerPage, error) {
	older, count, cursor := page.Direction()
	var from *edge
	if cursor != "" {
		at, err := cursor.LikerPosition(post)
		if err != nil {
			return retwis.LikerPage{}, err
		}
		from = &edge{at.Score, at.User}
	}
	partitions, err := s.likePartitions(ctx, []retwis.PostID{post})
	if err != nil {
		return retwis.LikerPage{}, err
	}
	sets := make([]string, len(partitions[0]))
	for i, number := range partitions[0] {
		sets[i] = s.db.Partition(number).Likers(post)
	}
	found, total, err := s.nearest(ctx, sets, from, older, count+1)
	if err != nil {
		return retwis.LikerPage{}, fmt.Errorf("read the likers of post %s: %w", post, err)
	}
	w := newWindow(found, total, older, count, from != nil)
	users, err := s.accounts.readUsers(ctx, w, func(e edge) retwis.Cursor {
		return retwis.LikePosition{Post: post, Score: e.score, User: e.user}.LikerCursor()
	})
	if err != nil {
		return retwis.LikerPage{}, fmt.Errorf("read the likers of post %s: %w", post, err)
	}
	result := retwis.LikerPage{HasNextPage: users.HasNextPage, HasPreviousPage: users.HasPreviousPage, TotalCount: total}
	for _, f := range users.Follows {
		result.Likers = append(result.Likers, retwis.Liker{Cursor: f.Cursor, User: f.User, LikedAt: f.FollowedAt})
	}
	return result, nil
}

// LikedPage returns one page of the posts that a user likes, newest like first: of the newest [Options.LikedCap] likes. It
// skips deleted posts and refills the page. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Likes) LikedPage(ctx context.Context, user retwis.UserID, page retwis.Page) (retwis.LikedPostPage, error) {
	older, count, cursor := page.Direction()
	at := retwis.LikePosition{User: user}
	if cursor != "" {
		var err error
		if at, err = cursor.LikedPostPosition(user); err != nil {
			return retwis.LikedPostPage{}, err
		}
	}
	found, more, stopped, err := existingPosts(ctx, s.posts, count, &at, func(at *retwis.LikePosition, count int) ([]retwis.LikePosition, error) {
		return s.likesOf(ctx, *at, older, count)
	}, func(at retwis.LikePosition) retwis.PostID { return at.Post })
	if err != nil {
		return retwis.LikedPostPage{}, fmt.Errorf("read the likes of %s: %w", user, err)
	}
	var result retwis.LikedPostPage
	for _, f := range found {
		result.Posts = append(result.Posts, retwis.LikedPost{Cursor: f.at.LikedPostCursor(), Post: f.post, LikedAt: followedAt(f.at.Score)})
	}
	if stopped != nil {
		s.metrics.earlyEnds.WithLabelValues(likedList).Inc()
		result.ScannedTo = stopped.LikedPostCursor()
	}
	inside := cursor != ""
	if result.HasNextPage, result.HasPreviousPage = more, inside; !older {
		slices.Reverse(result.Posts)
		result.HasNextPage, result.HasPreviousPage = inside, more
	}
	return result, nil
}

// likesOf returns the next likes of a user in a direction, from a position, or from an end if its time is 0.
func (s *Likes) likesOf(ctx context.Context, at retwis.LikePosition, older bool, count int) ([]retwis.LikePosition, error) {
	direction, from := "0", ""
	if older {
		direction = "1"
	}
	if at.Score != 0 {
		from = strconv.FormatInt(at.Score, 10)
	}
	fields, err := s.db.Do(ctx, rdb.Call{
		Script: script.ReadLikes,
		Keys:   []string{s.db.OfUser(at.User).User(at.User).Likes()},
		Args:   []any{s.options.LikedCap, direction, from, count},
	}).StringSlice()
	if err != nil {
		return nil, err
	}
	likes := make([]retwis.LikePosition, len(fields)/2)
	for i := range likes {
		likes[i] = retwis.LikePosition{User: at.User, Score: rdb.Score(fields[2*i+1])}
		if likes[i].Post, err = retwis.ParsePostID(fields[2*i]); err != nil {
			return nil, err
		}
	}
	return likes, nil
}
