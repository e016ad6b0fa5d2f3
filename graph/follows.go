package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// follow returns the change that makes a reader follow an author. If showReposts is nil, it does not change whether the home shows the
// author's reposts.
func (r *Resolver) follow(showReposts *bool) func(ctx context.Context, reader, author retwis.UserID) error {
	if showReposts == nil {
		return r.Follows.Follow
	}
	return func(ctx context.Context, reader, author retwis.UserID) error {
		return r.Follows.FollowShowing(ctx, reader, author, *showReposts)
	}
}

// changeFollow makes the viewer follow or unfollow a user.
func changeFollow(
	ctx context.Context, userID string, change func(ctx context.Context, reader, author retwis.UserID) error,
) (*FollowPayload, error) {
	viewer, err := auth.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	user, err := changeFollowOf(ctx, viewer, userID, change)
	if err != nil {
		shown, err := userErrors(err)
		return &FollowPayload{UserErrors: shown}, err
	}
	return &FollowPayload{User: user, Viewer: &retwis.Viewer{ID: viewer}}, nil
}

// changeFollowOf returns the followed or unfollowed user as it is after the change.
func changeFollowOf(
	ctx context.Context, viewer retwis.UserID, userID string,
	change func(ctx context.Context, reader, author retwis.UserID) error,
) (*retwis.User, error) {
	author, ok := parseGlobalID(userID).(retwis.UserID)
	if !ok {
		return nil, retwis.ErrUserNotFound
	}
	if err := change(ctx, viewer, author); err != nil {
		return nil, err
	}
	user, err := loaders.From(ctx).Users.Load(ctx, author)
	if err == nil && user == nil {
		err = retwis.ErrUserNotFound
	}
	return user, err
}

// followConnection returns a page of followers, of followed users, or of the members of a list.
func (r *Resolver) followConnection(
	ctx context.Context, of retwis.FollowConnection,
	first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return loaders.Once(ctx, pageKey{"follows", of, page}, func() (*UserConnection, error) {
		follows, err := r.Follows.FollowPage(ctx, of, page)
		return userConnection(ctx, follows), err
	})
}

// commonFollowers returns a page of the users who follow both users.
func (r *Resolver) commonFollowers(
	ctx context.Context, of retwis.UserID, with string,
	first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	other, ok := parseGlobalID(with).(retwis.UserID)
	if !ok {
		return nil, retwis.ErrNotFound
	}
	user, err := loaders.From(ctx).Users.Load(ctx, other)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, retwis.ErrNotFound
	}
	return loaders.Once(ctx, pageKey{"commonFollowers", retwis.CommonFollowers(of, other), page}, func() (*UserConnection, error) {
		common, err := r.Follows.CommonFollowers(ctx, of, other, page)
		return userConnection(ctx, common), err
	})
}

// knownFollowers returns a page of the followers of a user whom the viewer follows. An anonymous viewer follows nobody.
func (r *Resolver) knownFollowers(
	ctx context.Context, of retwis.UserID, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	viewer := auth.IdentityOf(ctx).User
	if viewer == 0 {
		return userConnection(ctx, retwis.FollowPage{}), nil
	}
	return loaders.Once(ctx, pageKey{"knownFollowers", retwis.KnownFollowers(of, viewer), page}, func() (*UserConnection, error) {
		known, err := r.Follows.KnownFollowers(ctx, of, viewer, page)
		return userConnection(ctx, known), err
	})
}
