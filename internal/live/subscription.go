package live

import (
	"context"
	"sync"

	"retwis/internal/retwis"
)

// channelLength is what a subscriber's channel holds. It is small because most
// subscribers are idle; who falls behind gets a queue and a goroutine until it has
// caught up.
const channelLength = 8

// subscription is the queue of one subscriber. It ends when its context does: the
// subscriber's own ends it, so does the hub's stop, and so does cutting it off.
type subscription struct {
	hub    *Hub
	ctx    context.Context
	cancel context.CancelFunc
	place  int // among the feed's subscribers; guarded by the partition's lock

	events chan retwis.Event

	mu      sync.Mutex
	waiting []retwis.Event // what the channel has no room for
	sending bool           // a goroutine sends; it alone uses the channel, and empties waiting
	closed  bool
	err     error
}

func newSubscription(ctx context.Context, h *Hub) *subscription {
	ctx, cancel := context.WithCancel(ctx)
	return &subscription{hub: h, ctx: ctx, cancel: cancel, events: make(chan retwis.Event, channelLength)}
}

// begin tells what comes before the live events, which wait until that is done.
func (s *subscription) begin(r replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.arrived)+len(r.removed) == 0 {
		// The channel is new and has room for these.
		if r.reset != "" {
			s.hub.counts.resets.Add(1)
			s.events <- &retwis.Reset{Cursor: r.end.Cursor(), Reason: r.reset}
		}
		s.events <- &retwis.CaughtUp{Cursor: r.end.Cursor()}
		return
	}
	s.sending = true
	s.hub.wg.Go(func() {
		r.tell(s)
		s.drain()
	})
}

// deliver hands over a live event without waiting. A subscriber that is too far
// behind is cut off instead.
func (s *subscription) deliver(e retwis.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if len(s.waiting)+len(s.events) >= s.hub.options.QueueLength {
		s.err = retwis.ErrTooSlow
		s.hub.counts.cutOffs.Add(1)
		s.cancel()
		return
	}
	s.hub.counts.delivered.Add(1)
	if !s.sending {
		select {
		case s.events <- e:
			return
		default:
			s.sending = true
			s.hub.wg.Go(s.drain)
		}
	}
	s.waiting = append(s.waiting, e)
}

// drain sends what waits until nothing does.
func (s *subscription) drain() {
	for {
		e := s.next()
		if e == nil {
			return
		}
		s.send(e)
	}
}

// next takes the first event that waits. When there is none, or the subscription has
// ended, it returns nil, and the sending goroutine is done with the channel.
func (s *subscription) next() retwis.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 && s.ctx.Err() == nil {
		e := s.waiting[0]
		s.waiting[0] = nil
		s.waiting = s.waiting[1:]
		return e
	}
	s.waiting, s.sending = nil, false
	if s.closed {
		close(s.events)
	}
	return nil
}

// send waits until the subscriber takes the event, or its subscription ends.
func (s *subscription) send(e retwis.Event) {
	select {
	case s.events <- e:
	case <-s.ctx.Done():
	}
}

// close closes the channel, once, when the context has ended.
func (s *subscription) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if !s.sending {
		close(s.events)
	}
}

// reason says why the subscription was ended, nil when its context was.
func (s *subscription) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
