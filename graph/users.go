package graph

import (
	"context"
	"errors"
	"fmt"

	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// maxSearchPage is the maximum size of a page of search results.
const maxSearchPage = 50

// existingUser loads a user that another object refers to. A missing user is an internal error.
func existingUser(ctx context.Context, id retwis.UserID) (*retwis.User, error) {
	return existing(ctx, loaders.From(ctx).Users, id)
}

// existingAuthor loads the author of a post. A missing author is an internal error.
func existingAuthor(ctx context.Context, id retwis.UserID) (*retwis.User, error) {
	return existing(ctx, loaders.From(ctx).Authors(), id)
}

func existing(
	ctx context.Context, users *loaders.Loader[retwis.UserID, *retwis.User], id retwis.UserID,
) (*retwis.User, error) {
	user, err := users.Load(ctx, id)
	if err == nil && user == nil {
		err = fmt.Errorf("user %s does not exist, but is referred to", id)
	}
	return user, err
}

// userByName returns the user with a name, or nil.
func (r *Resolver) userByName(ctx context.Context, name string) (*retwis.User, error) {
	if len(name) > retwis.MaxUsernameLength {
		return nil, nil // nobody has it, and folding takes time
	}
	type key struct{ name string }
	return loaders.Once(ctx, key{retwis.FoldUsername(name)}, func() (*retwis.User, error) {
		user, err := r.Users.UserByName(ctx, name)
		if errors.Is(err, retwis.ErrNotFound) {
			return nil, nil
		}
		return user, err
	})
}

// newestUsers returns a page of the users who registered last.
func (r *Resolver) newestUsers(
	ctx context.Context, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return loaders.Once(ctx, pageKey{"newestUsers", "", page}, func() (*UserConnection, error) {
		users, err := r.Users.NewestUsers(ctx, page)
		return userConnection(ctx, users), err
	})
}

// searchUsers returns a page of the users whose names begin with a prefix.
func (r *Resolver) searchUsers(
	ctx context.Context, prefix string, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*UserConnection, error) {
	page, err := pageArgs(first, after, last, before)
	switch {
	case err != nil:
		return nil, err
	case page.First > maxSearchPage:
		return nil, badInput("`first` is %d: it must be from 1 to %d", page.First, maxSearchPage)
	case page.Last > maxSearchPage:
		return nil, badInput("`last` is %d: it must be from 1 to %d", page.Last, maxSearchPage)
	case !retwis.StartsUsername(prefix):
		return nil, badInput("`prefix` is %.40q: it must be 1 to %d letters a to z, digits and underscores",
			prefix, retwis.MaxUsernameLength)
	}
	return loaders.Once(ctx, pageKey{"searchUsers", prefix, page}, func() (*UserConnection, error) {
		users, err := r.Users.SearchUsers(ctx, prefix, page)
		return userConnection(ctx, users), err
	})
}

// findUsers returns the users whose names match a query best.
func (r *Resolver) findUsers(ctx context.Context, query string) ([]*retwis.User, error) {
	if len(query) > retwis.MaxSearchQuery {
		return nil, badInput("`query` has %d bytes: %d is the limit", len(query), retwis.MaxSearchQuery)
	}
	type key struct{ foundBy string }
	return loaders.Once(ctx, key{query}, func() ([]*retwis.User, error) {
		users, err := r.Users.FindUsers(ctx, query, limits.MaxFoundUsers)
		if users == nil && err == nil {
			users = []*retwis.User{} // not null
		}
		keepTexts(ctx, textsOfUsers(users))
		return users, err
	})
}
