package retwis

import "context"

// ErrTooSlow ends the subscription of a reader that does not keep up. The reader
// resumes with the cursor of the last event it got.
var ErrTooSlow = Errorf(CodeRateLimited, "the subscriber is too slow: resume with the last cursor")

// ErrTimelineGone ends subscriptions of a timeline that nobody can read any more.
var ErrTimelineGone = Errorf(CodeNotFound, "the timeline is gone: what it belonged to was deleted")

type streamKey struct{}

// WithStreamEnd returns a context in which [EndStream] calls end. A transport puts
// it around a subscription, to learn why the source of the events ended it.
func WithStreamEnd(ctx context.Context, end func(error)) context.Context {
	return context.WithValue(ctx, streamKey{}, end)
}

// EndStream tells the transport of the subscription why it ends, like [ErrTooSlow].
// Outside such a context it does nothing.
func EndStream(ctx context.Context, reason error) {
	if end, ok := ctx.Value(streamKey{}).(func(error)); ok {
		end(reason)
	}
}
