package outbox

import (
	"context"

	"retwis/internal/retwis"
)

type actorKey struct{}

// WithActor returns a context for the work of an entry that a user caused: see [Entry.ActingUser].
func WithActor(ctx context.Context, user retwis.UserID) context.Context {
	return context.WithValue(ctx, actorKey{}, user)
}

// ActorOf returns the user of [WithActor], or 0.
func ActorOf(ctx context.Context) retwis.UserID {
	user, _ := ctx.Value(actorKey{}).(retwis.UserID)
	return user
}
