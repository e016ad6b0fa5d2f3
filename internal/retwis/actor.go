package retwis

import "context"

// Actor is who has caused background work, in which networks take turns, and the users of one.
type Actor struct {
	User    UserID
	Network string // from which the user acted; if that is unknown, a name that only this user has
}

type actorKey struct{}

// WithActor returns a context for background work that somebody has caused.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf returns the actor of [WithActor], or none.
func ActorOf(ctx context.Context) Actor {
	actor, _ := ctx.Value(actorKey{}).(Actor)
	return actor
}
