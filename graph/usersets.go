package graph

import (
	"context"

	"retwis/graph/loaders"
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
	user, err := loaders.From(ctx).Users.Load(ctx, other)
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

// newestUsers reads one page of the accounts made last.
func (r *Resolver) newestUsers(
	ctx context.Context, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	users, err := r.Users.NewestUsers(ctx, page)
	if err != nil {
		return nil, err
	}
	return userConnection(ctx, users), nil
}

// maxFound is how many users one page of a search has.
const maxFound = 50

// searchUsers reads one page of the users whose names begin with a prefix.
func (r *Resolver) searchUsers(
	ctx context.Context, prefix string, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	switch {
	case err != nil:
		return nil, err
	case page.First > maxFound:
		return nil, badInput("`first` is %d: it must be from 1 to %d", page.First, maxFound)
	case page.Last > maxFound:
		return nil, badInput("`last` is %d: it must be from 1 to %d", page.Last, maxFound)
	case !retwis.StartsUsername(prefix):
		return nil, badInput("`prefix` is %q: it must be 1 to %d letters a to z, digits and underscores",
			prefix, retwis.MaxUsernameLength)
	}
	users, err := r.Users.SearchUsers(ctx, prefix, page)
	if err != nil {
		return nil, err
	}
	return userConnection(ctx, users), nil
}
