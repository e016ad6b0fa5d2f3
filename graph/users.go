package graph

import (
	"context"
	"fmt"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

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
		err = fmt.Errorf("user %s is referred to, and does not exist", id)
	}
	return user, err
}
