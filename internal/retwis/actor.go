package retwis

import "context"

type actorKey struct{}

// WithActor returns a context for background work that a user has caused: users take turns in it.
func WithActor(ctx context.Context, user UserID) context.Context {
	return context.WithValue(ctx, actorKey{}, user)
}

// ActorOf returns the user of [WithActor], or 0.
func ActorOf(ctx context.Context) UserID {
	user, _ := ctx.Value(actorKey{}).(UserID)
	return user
}
