package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// LikerConnection is a page of the users who like a post.
type LikerConnection struct {
	Edges      []retwis.Liker
	PageInfo   PageInfo
	TotalCount int
}

// LikedPostConnection is a page of the posts that the viewer likes.
type LikedPostConnection struct {
	Edges    []retwis.LikedPost
	PageInfo PageInfo
}

// changeLike makes the viewer like a post, or stop liking it.
func changeLike(
	ctx context.Context, postID string, change func(ctx context.Context, user retwis.UserID, post retwis.PostID) error,
) (*LikePayload, error) {
	post, err := changePost(ctx, postID, func(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.PostID, error) {
		return post, change(ctx, user, post)
	})
	if err != nil {
		shown, err := userErrors(err)
		return &LikePayload{UserErrors: shown}, err
	}
	return &LikePayload{Post: post}, nil
}

// changePost changes a relation between the viewer and a post. It returns the post whose id change returns.
func changePost(
	ctx context.Context, postID string,
	change func(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.PostID, error),
) (*retwis.Post, error) {
	viewer, err := auth.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := parseGlobalID(postID).(retwis.PostID)
	if !ok {
		return nil, retwis.ErrPostNotFound
	}
	if id, err = change(ctx, viewer, id); err != nil {
		return nil, err
	}
	post, err := loaders.From(ctx).Posts.Load(ctx, id)
	if err == nil && post == nil {
		err = retwis.ErrPostNotFound
	}
	return post, err
}

// likers returns a page of the users who like a post.
func (r *Resolver) likers(
	ctx context.Context, of retwis.PostID, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*LikerConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return loaders.Once(ctx, pageKey{"likers", of, page}, func() (*LikerConnection, error) {
		likers, err := r.Likes.LikerPage(ctx, of, page)
		if err != nil {
			return nil, err
		}
		connection := &LikerConnection{
			Edges:      likers.Likers,
			PageInfo:   PageInfo{HasNextPage: likers.HasNextPage, HasPreviousPage: likers.HasPreviousPage},
			TotalCount: likers.TotalCount,
		}
		if n := len(likers.Likers); n > 0 {
			connection.PageInfo.StartCursor, connection.PageInfo.EndCursor = &likers.Likers[0].Cursor, &likers.Likers[n-1].Cursor
			users := make([]*retwis.User, n)
			for i, liker := range likers.Likers {
				users[i] = liker.User
			}
			expectUsers(ctx, users)
		}
		return connection, nil
	})
}

// likedPosts returns a page of the posts that the viewer likes.
func (r *Resolver) likedPosts(
	ctx context.Context, viewer retwis.UserID, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*LikedPostConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return loaders.Once(ctx, pageKey{"likedPosts", viewer, page}, func() (*LikedPostConnection, error) {
		likes, err := r.Likes.LikedPage(ctx, viewer, page)
		if err != nil {
			return nil, err
		}
		connection := &LikedPostConnection{
			Edges:    likes.Posts,
			PageInfo: PageInfo{HasNextPage: likes.HasNextPage, HasPreviousPage: likes.HasPreviousPage},
		}
		if n := len(likes.Posts); n > 0 {
			connection.PageInfo.StartCursor, connection.PageInfo.EndCursor = &likes.Posts[0].Cursor, &likes.Posts[n-1].Cursor
			posts, ids, liked := make([]*retwis.Post, n), make([]retwis.PostID, n), make([]bool, n)
			for i, like := range likes.Posts {
				posts[i], ids[i], liked[i] = like.Post, like.Post.ID, true
			}
			loaders.From(ctx).ViewerLikes.Prime(ids, liked)
			expectPosts(ctx, posts, nil, nil)
		}
		endAt(&connection.PageInfo, likes.ScannedTo, page.Last > 0)
		return connection, nil
	})
}
