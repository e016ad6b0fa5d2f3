package retwis

import (
	"context"
	"errors"
)

// ErrSlowConsumer ends the subscription of a slow consumer. The client resumes after the
// cursor of the last event that it received.
var ErrSlowConsumer = Errorf(CodeRateLimited, "the subscriber is too slow: resume after the last cursor")

// IsSlowConsumer reports whether an error is ErrSlowConsumer. [errors.Is] does not distinguish
// it from other errors with the same code.
func IsSlowConsumer(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e == ErrSlowConsumer
}

// ErrTimelineGone ends the subscriptions of a timeline whose account or list was deleted.
var ErrTimelineGone = Errorf(CodeNotFound, "the timeline no longer exists: its account or list was deleted")

// Sink receives the events of one subscription, in order and one call at a time.
type Sink interface {
	// FilterBy makes the sink replace each event by the result of apply, which is nil to suppress the event. A source with a
	// filter calls it before the first event. The sink calls apply for one event after the other, and not in Take: a filter
	// takes time.
	FilterBy(apply func(Event) Event)
	// Take accepts a live event. It never waits, because the caller holds locks. It returns
	// false if the queue of the subscriber is full, which ends the subscription with
	// [ErrSlowConsumer].
	Take(e Event) bool
	// Room returns nil if the queue has room for an event of the past, else a channel that is closed when it has.
	Room() <-chan struct{}
	// Replay accepts an event of the past. It waits until the queue has room for the event
	// or ctx is done.
	Replay(ctx context.Context, e Event)
	// End is the last call. The reason is nil if the context of the subscription ended or
	// the source stopped.
	End(reason error)
}

// EventSource starts an authorised subscription. The sink receives events until ctx is done,
// beginning after a cursor. The empty cursor selects the start position of the subscription
// itself. After an error the sink is not called. If ctx is done already, the subscription does not start, and the error is the cause.
type EventSource func(ctx context.Context, after Cursor, sink Sink) error
