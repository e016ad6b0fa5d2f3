package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// mentions returns those of the users whom a post names that still exist.
func mentions(ctx context.Context, post *retwis.Post) ([]*retwis.User, error) {
	reads := make([]func() (*retwis.User, error), len(post.Mentions))
	for i, id := range post.Mentions {
		reads[i] = loaders.From(ctx).Authors().LoadThunk(ctx, id)
	}
	users := make([]*retwis.User, 0, len(reads))
	for _, read := range reads {
		user, err := read()
		if err != nil {
			return nil, err
		}
		if user != nil {
			users = append(users, user)
		}
	}
	return users, nil
}
