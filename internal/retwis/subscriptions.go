package retwis

import (
	"context"
	"errors"
)

// ErrSlowConsumer ends the subscription of a reader that does not keep up. The reader
// resumes with the cursor of the last event it got.
var ErrSlowConsumer = Errorf(CodeRateLimited, "the subscriber is too slow: resume after the last cursor")

// IsSlowConsumer reports whether an error is ErrSlowConsumer. [errors.Is] does not tell it
// from other errors of its code.
func IsSlowConsumer(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e == ErrSlowConsumer
}

// ErrTimelineGone ends subscriptions of a timeline that nobody can read any more.
var ErrTimelineGone = Errorf(CodeNotFound, "the timeline no longer exists: its account or list was deleted")

// Sink receives the events of one subscription, in order and one call at a time.
type Sink interface {
	// Take accepts an event that happens now. It never waits: the caller holds locks. It
	// reports false when the reader is too far behind, which ends the subscription with
	// [ErrSlowConsumer].
	Take(e Event) bool
	// Replay accepts an event that happened before. It waits until the reader has room for
	// the event or ctx is done.
	Replay(ctx context.Context, e Event)
	// End is the last call. The reason is nil when the subscription's context ended, or
	// the source stopped.
	End(reason error)
}

// EventSource starts a subscription whose reader was authorised: the sink receives its
// events until ctx is done. The events begin after a cursor; the empty cursor stands for
// the position that the subscription itself names. After an error the sink is not called.
type EventSource func(ctx context.Context, after Cursor, sink Sink) error
