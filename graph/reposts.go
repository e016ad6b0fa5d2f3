package graph

import (
	"context"

	"retwis/internal/retwis"
)

// repost makes the viewer repost a post.
func (r *Resolver) repost(ctx context.Context, postID string) (*RepostPayload, error) {
	return repostPayload(changePost(ctx, postID, func(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.PostID, error) {
		repost, err := r.Reposts.Repost(ctx, user, post)
		return repost.Reposted, err
	}))
}

// undoRepost removes the viewer's repost of a post.
func (r *Resolver) undoRepost(ctx context.Context, postID string) (*RepostPayload, error) {
	return repostPayload(changePost(ctx, postID, func(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.PostID, error) {
		return post, r.Reposts.UndoRepost(ctx, user, post)
	}))
}

func repostPayload(post *retwis.Post, err error) (*RepostPayload, error) {
	if err != nil {
		shown, err := userErrors(err)
		return &RepostPayload{UserErrors: shown}, err
	}
	return &RepostPayload{Post: post}, nil
}
