package graph

import (
	"context"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// commonFollowers reads one page of those who follow a user and another one.
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
	user, err := loadersOf(ctx).users.load(ctx, other)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, retwis.ErrNotFound
	}
	common, err := r.Follows.CommonFollowers(ctx, of, other, page)
	if err != nil {
		return nil, err
	}
	return userConnection(ctx, common), nil
}

// knownFollowers reads one page of those of a user's followers whom the viewer follows:
// nobody, when nobody is logged in.
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
	known, err := r.Follows.KnownFollowers(ctx, of, viewer, page)
	if err != nil {
		return nil, err
	}
	return userConnection(ctx, known), nil
}
