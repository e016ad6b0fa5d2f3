package live

import (
	"context"
	"sync"

	"retwis/internal/retwis"
)

// subscription is the place of one subscriber. It ends when its context does: the
// subscriber's own ends it, so does the hub's stop, and so does cutting it off.
//
// The sink is called with the lock held, but for what is replayed: then live events
// wait here.
type subscription struct {
	hub *Hub

	mu        sync.Mutex
	replaying bool  // a goroutine replays; it alone uses the sink, and empties waiting
	reason    error // why the hub ended it; nil when it did not
	closed    bool
	sink      retwis.Sink
	waiting   []retwis.Event // behind the replay

	ctx    context.Context
	cancel context.CancelFunc
	index  int // among the feed's subscribers; guarded by the partition's lock
}

func newSubscription(ctx context.Context, h *Hub, sink retwis.Sink) *subscription {
	ctx, cancel := context.WithCancel(ctx)
	return &subscription{hub: h, ctx: ctx, cancel: cancel, sink: sink}
}

// start tells what comes before the live events, which wait until that is done.
func (s *subscription) start(r replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.arrived)+len(r.removed) == 0 {
		if r.reset != "" {
			s.hub.counts.resets.Add(1)
			s.handOverLocked(&retwis.Reset{Cursor: r.end.Cursor(), Reason: r.reset})
		}
		s.handOverLocked(&retwis.CaughtUp{Cursor: r.end.Cursor()})
		return
	}
	s.replaying = true
	s.hub.wg.Go(func() {
		r.send(s)
		s.drain()
	})
}

// deliver hands over a live event without waiting. A subscriber that is too far
// behind is cut off instead.
func (s *subscription) deliver(e retwis.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.reason != nil || s.closed:
	case !s.replaying:
		s.hub.counts.delivered.Add(1)
		s.handOverLocked(e)
	case len(s.waiting) >= s.hub.options.QueueLength:
		s.disconnectSlowLocked()
	default:
		s.hub.counts.delivered.Add(1)
		s.waiting = append(s.waiting, e)
	}
}

func (s *subscription) handOverLocked(e retwis.Event) {
	if !s.sink.Take(e) {
		s.disconnectSlowLocked()
	}
}

func (s *subscription) disconnectSlowLocked() {
	s.hub.counts.slowConsumers.Add(1)
	s.reason = retwis.ErrSlowConsumer
	s.cancel()
}

// end ends the subscription for a reason, if nothing else has.
func (s *subscription) end(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil && !s.closed {
		s.reason = reason
		s.cancel()
	}
}

// drain replays what waits until nothing does.
func (s *subscription) drain() {
	for e := s.next(); e != nil; e = s.next() {
		s.sink.Replay(s.ctx, e)
	}
}

// next takes the first event that waits. When there is none, or the subscription has
// ended, it returns nil, and the replaying goroutine is done with the sink.
func (s *subscription) next() retwis.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 && s.ctx.Err() == nil {
		e := s.waiting[0]
		s.waiting[0] = nil
		s.waiting = s.waiting[1:]
		return e
	}
	s.waiting, s.replaying = nil, false
	if s.closed {
		s.endLocked()
	}
	return nil
}

// close ends the sink, once, when the context has ended.
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
