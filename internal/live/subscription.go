package live

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// subscription is one subscriber of a feed. It ends with its context, which ends when the
// subscriber leaves, when the hub stops, and when the hub disconnects the subscriber.
//
// The subscription calls the sink with its lock held. A replay is the exception: it may
// block, and live events wait in the subscription until it ends.
type subscription struct {
	// The fields that an event uses come first, as those of [feed] do.
	hub       *Hub
	filter    int64 // last known filter epoch of the viewer; guarded by the partition's lock, or only for the visits of the tail
	mu        sync.Mutex
	replaying bool // a goroutine replays; only it calls the sink, and it drains waiting
	closed    bool
	counts    bool  // whether the subscriber receives changed counts
	reason    error // why the hub ended the subscription; nil if it did not
	sink      retwis.Sink
	charge    func(points int) error // nil charges nobody
	unpaid    int                    // live events that are not charged yet

	waiting []retwis.Event    // live events that wait for the end of the replay
	entries int               // bytes of the entries of the replay
	account cost.EventAccount // of both
	ctx     context.Context
	cancel  context.CancelFunc
	client  ratelimit.Client // for which it was started
	viewer  retwis.UserID    // 0 for an anonymous subscriber

	tail      *tail // that the subscription is a member of; nil if the feed hands over its events itself
	nextVisit int   // of the tail
	index     int   // among the first subscribers of the feed, or the members; guarded by the lock of the partition, or of the tail
}

func newSubscription(ctx context.Context, h *Hub, sink retwis.Sink) *subscription {
	ctx, cancel := context.WithCancel(ctx)
	return &subscription{hub: h, ctx: ctx, cancel: cancel, client: cost.ClientOf(ctx), sink: sink}
}

// start sends the replay. Live events wait until it ends.
func (s *subscription) start(r replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.arrived)+len(r.removed) == 0 {
		if r.reset != "" {
			s.hub.counts.resets.Add(1)
			s.handOverLocked(&retwis.Reset{Cursor: r.end.Cursor(), Reason: r.reset})
		}
		s.handOverLocked(r.caughtUp())
		return
	}
	s.entries = r.bytes()
	if !s.growLocked(0) {
		s.reason = errTooManyReplays()
		s.cancel()
		return
	}
	s.replaying = true
	s.hub.wg.Go(func() {
		defer s.endAfterPanic()
		r.send(s)
		s.drain()
	})
}

// errTooManyReplays ends a subscription that starts far behind, beside many others.
func errTooManyReplays() error {
	err := retwis.Errorf(retwis.CodeRateLimited, "too many subscriptions that are far behind are being resumed: resume this one later")
	err.RetryAfterSeconds = retryAfter
	return err
}

// endAfterPanic ends the subscription if its goroutine panics: a defect must not end the process, and with it all other subscriptions.
func (s *subscription) endAfterPanic() {
	if value := recover(); value != nil {
		s.end(fmt.Errorf("a replay panicked: %v\n%s", value, debug.Stack()))
		s.next() // the sink may end
	}
}

// deliver passes a live event to the sink without blocking, and charges the subscriber for a number of events. It disconnects a slow
// consumer. It reports whether somebody was charged.
func (s *subscription) deliver(e retwis.Event, events int) (charged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over():
		return false
	case !s.replaying:
		s.handOverLocked(e)
	case !s.waitLocked(e):
		s.disconnectSlowLocked()
		return false
	}
	s.hub.counts.delivered.Add(1)
	return s.payLocked(events)
}

// over reports whether the subscription ends, or its client has left. It is among the subscribers until it has a turn.
func (s *subscription) over() bool { return s.reason != nil || s.closed || s.ctx.Err() != nil }

// waitLocked lets a live event wait for the end of the replay. It returns false if too many events wait.
func (s *subscription) waitLocked(e retwis.Event) bool {
	if len(s.waiting) >= s.hub.options.QueueLength || !s.growLocked(len(s.waiting)+1) {
		return false
	}
	s.waiting = append(s.waiting, e)
	return true
}

// growLocked counts the entries of the replay and the waiting events. It returns false if the client, or its network, has too many.
func (s *subscription) growLocked(waiting int) bool {
	return s.account.Grow(s.hub.options.Shares.Replays, s.client, s.entries+waiting*cost.EventBytes)
}

// pay charges the subscriber for live events that it does not receive. It reports whether somebody was charged: a subscription that has ended pays nothing.
func (s *subscription) pay(events int) (charged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.over() && s.payLocked(events)
}

// payLocked charges the subscriber for live events, whose delivery costs time for each subscription. One without budget ends. It reports whether there
// is somebody to charge.
func (s *subscription) payLocked(events int) (charged bool) {
	if s.charge == nil {
		return false
	}
	if s.unpaid += events; s.unpaid < cost.EventsPerPoint {
		return true
	}
	points := s.unpaid / cost.EventsPerPoint
	s.unpaid %= cost.EventsPerPoint
	if err := s.charge(points); err != nil && s.reason == nil {
		s.reason = err
		s.cancel()
	}
	return true
}

// checkBudget ends the subscription if its client cannot pay for further events of a replay. Those that wait to be rendered are not charged yet.
func (s *subscription) checkBudget() {
	if s.charge == nil {
		return
	}
	if err := s.charge(0); err != nil {
		s.end(err)
	}
}

func (s *subscription) handOverLocked(e retwis.Event) {
	if !s.sink.Take(e) {
		s.disconnectSlowLocked()
	}
}

// disconnectSlow ends the subscription of a slow consumer.
func (s *subscription) disconnectSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over() {
		s.disconnectSlowLocked()
	}
}

func (s *subscription) disconnectSlowLocked() {
	s.hub.counts.slowConsumers.Add(1)
	s.reason = retwis.ErrSlowConsumer
	s.cancel()
}

// end ends the subscription for a reason, unless it has already ended.
func (s *subscription) end(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil && !s.closed {
		s.reason = reason
		s.cancel()
	}
}

// drain sends the waiting live events until there are none.
func (s *subscription) drain() {
	for e := s.next(); e != nil; e = s.next() {
		s.sink.Replay(s.ctx, e)
	}
}

// next removes and returns the first waiting event. It returns nil if there is none or the
// subscription has ended; the replaying goroutine must then no longer use the sink.
func (s *subscription) next() retwis.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 && s.ctx.Err() == nil {
		e := s.waiting[0]
		s.waiting[0] = nil
		s.waiting = s.waiting[1:]
		s.account.Shrink(s.entries + len(s.waiting)*cost.EventBytes)
		return e
	}
	s.waiting, s.replaying = nil, false
	s.account.Shrink(0)
	if s.closed {
		s.endLocked()
	}
	return nil
}

// close ends the sink. The hub calls it once, after the context has ended.
func (s *subscription) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if !s.replaying {
		s.endLocked()
	}
}

func (s *subscription) endLocked() {
	s.sink.End(s.reason)
}
