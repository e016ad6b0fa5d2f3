package live

import (
	"context"
	"sync"

	"retwis/internal/retwis"
)

// Subscription is an open stream of a timeline's events. Events is closed when the
// subscription's context ends or the source ends it; Err then returns the reason, and is
// nil for the former.
type Subscription struct {
	Events <-chan retwis.Event
	Err    func() error
}

// channelLength is what a stream's channel holds. It is small because most subscribers
// are idle; who falls behind gets a queue and a goroutine until it has caught up.
const channelLength = 8

// channelSink is a sink that is read like a channel.
type channelSink struct {
	hub    *Hub
	events chan retwis.Event

	mu      sync.Mutex
	waiting []retwis.Event // what the channel has no room for
	sending bool           // a goroutine sends; it alone uses the channel, and empties waiting
	ended   chan struct{}  // closed when the subscription is over
	err     error
}

// Subscribe is [Hub.Attach] for a reader who takes the events from a channel.
func (h *Hub) Subscribe(ctx context.Context, timeline retwis.TimelineID, after retwis.Cursor) (Subscription, error) {
	s := &channelSink{
		hub:    h,
		events: make(chan retwis.Event, channelLength),
		ended:  make(chan struct{}),
	}
	if err := h.Attach(ctx, timeline, after, s); err != nil {
		return Subscription{}, err
	}
	return Subscription{Events: s.events, Err: s.reason}, nil
}

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

// Replay implements [retwis.Sink]. Nothing is taken meanwhile.
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

// send sends what waits until nothing does, or the subscription is over.
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

// reason says why the subscription was ended, nil when its context was.
func (s *channelSink) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
