package live

import (
	"context"
	"sync"

	"retwis/internal/retwis"
)

// Subscription is an open subscription whose events arrive on a channel. The hub closes
// Events at the end of the subscription. Err then returns why the hub ended it, and nil if
// its context ended.
type Subscription struct {
	Events <-chan retwis.Event
	Err    func() error
}

// channelLength is the capacity of a channelSink's channel. It is small because most
// subscribers are idle. A subscriber that falls behind gets a queue and a goroutine until it
// has caught up.
const channelLength = 8

// channelSink is a sink that passes events to a channel.
type channelSink struct {
	hub    *Hub
	events chan retwis.Event

	mu      sync.Mutex
	waiting []retwis.Event // events that do not fit into the channel
	sending bool           // a goroutine sends; only it uses the channel, and it drains waiting
	ended   chan struct{}  // closed at the end of the subscription
	err     error
}

// Subscribe is [Hub.Attach] of an anonymous subscriber, with a channel for the events.
func (h *Hub) Subscribe(ctx context.Context, timeline retwis.TimelineID, after retwis.Cursor) (Subscription, error) {
	return h.SubscribeAs(ctx, retwis.Subscriber{}, timeline, after)
}

// SubscribeAs is [Hub.Attach] with a channel for the events.
func (h *Hub) SubscribeAs(ctx context.Context, who retwis.Subscriber, timeline retwis.TimelineID, after retwis.Cursor) (Subscription, error) {
	s := &channelSink{
		hub:    h,
		events: make(chan retwis.Event, channelLength),
		ended:  make(chan struct{}),
	}
	if err := h.Attach(ctx, who, timeline, after, s); err != nil {
		return Subscription{}, err
	}
	return Subscription{Events: s.events, Err: s.reason}, nil
}

// FilterBy implements [retwis.Sink]. The hub does not filter.
func (s *channelSink) FilterBy(func(retwis.Event) retwis.Event) {}

// Take implements [retwis.Sink].
func (s *channelSink) Take(e retwis.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting)+len(s.events) >= s.hub.options.QueueLength {
		return false
	}
	if !s.sending {
		select {
		case s.events <- e:
			return true
		default:
			s.sending = true
			s.hub.wg.Go(s.send)
		}
	}
	s.waiting = append(s.waiting, e)
	return true
}

// Room implements [retwis.Sink].
func (*channelSink) Room() <-chan struct{} { return nil }

// Replay implements [retwis.Sink].
func (s *channelSink) Replay(ctx context.Context, e retwis.Event) {
	select {
	case s.events <- e:
	case <-ctx.Done():
	}
}

// End implements [retwis.Sink].
func (s *channelSink) End(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = reason
	close(s.ended)
	if !s.sending {
		close(s.events)
	}
}

// send sends the waiting events until there are none or the subscription has ended.
func (s *channelSink) send() {
	for e := s.next(); e != nil; e = s.next() {
		select {
		case s.events <- e:
		case <-s.ended:
		}
	}
}

func (s *channelSink) next() retwis.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		s.waiting = nil
		close(s.events)
		return nil
	default:
	}
	if len(s.waiting) == 0 {
		s.waiting, s.sending = nil, false
		return nil
	}
	e := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	return e
}

// reason returns why the hub ended the subscription, and nil if its context ended.
func (s *channelSink) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
