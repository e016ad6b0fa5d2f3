package retwis

import "context"

// Sink takes the events of one subscription, in order and one call at a time.
type Sink interface {
	// Take takes an event that happens now. It never waits: the caller holds locks. It
	// reports false when the reader is too far behind, which ends the subscription with
	// [ErrTooSlow].
	Take(e Event) bool
	// Replay takes an event that happened before, once the reader has room for it or ctx
	// is done.
	Replay(ctx context.Context, e Event)
	// End is the last call. The reason is nil when the subscription's context ended, or
	// the source stopped.
	End(reason error)
}

// Route begins a subscription that was checked and allowed: its events go to the sink
// until ctx is done. It begins after a cursor; the empty one stands for the place that
// the subscription itself named. After an error the sink is not called.
type Route func(ctx context.Context, after Cursor, sink Sink) error

type routeKey struct{}

// WithRoute returns a context in which a subscription is not run but routed: its
// resolver checks it and hands a route to take.
func WithRoute(ctx context.Context, take func(Route)) context.Context {
	return context.WithValue(ctx, routeKey{}, take)
}

// TakeRoute gives the route to the transport, if ctx says that it wants one.
func TakeRoute(ctx context.Context, route Route) bool {
	take, ok := ctx.Value(routeKey{}).(func(Route))
	if ok {
		take(route)
	}
	return ok
}

type eventsKey struct{}

// WithEvents returns a context in which a subscription renders the given events, whoever
// they are for. Each of those was checked when it was routed.
func WithEvents(ctx context.Context, events <-chan Event) context.Context {
	return context.WithValue(ctx, eventsKey{}, events)
}

// EventsOf returns the events that a subscription in ctx has to render; nil when it is
// to find its own.
func EventsOf(ctx context.Context) <-chan Event {
	events, _ := ctx.Value(eventsKey{}).(<-chan Event)
	return events
}
