package live

import (
	"context"
	"fmt"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// maxJoinReads is the number of reads of a constantly changing timeline after which a
// joining subscriber receives a reset.
const maxJoinReads = 4

var errJoinTimeout = fmt.Errorf("timed out waiting for the timeline's events: %w", retwis.Unavailable(retryAfter))

// Attach sends the events of a timeline to the sink of a subscriber until ctx is done: first a replay of the
// events after the cursor, then live events. An empty cursor begins with live events. The
// caller must have authorised the subscriber. After an error Attach does not call the sink.
//
// Attach fails with [retwis.ErrBadCursor] if the cursor is malformed or of another timeline,
// and with [retwis.ErrTimelineGone] if the timeline was deleted. Later the subscription ends
// with [retwis.ErrSlowConsumer] if the sink does not keep up, and with [retwis.ErrTimelineGone]
// if the timeline is deleted.
func (h *Hub) Attach(ctx context.Context, who retwis.Subscriber, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error {
	var from *retwis.TimelinePosition
	if after != "" {
		position, err := after.TimelinePosition(timeline)
		if err != nil {
			return err
		}
		from = &position
	}
	s := newSubscription(ctx, h, sink)
	s.viewer, s.filter, s.counts, s.charge = who.User, who.FilterEpoch, who.Counts, who.Charge
	if from != nil && from.Filter > s.filter {
		s.filter = from.Filter // read later than the session was
	}
	if err := h.join(s, timeline, from); err != nil {
		s.cancel()
		return fmt.Errorf("subscribe to timeline %s: %w", timeline, err)
	}
	return nil
}

func (h *Hub) join(s *subscription, timeline retwis.TimelineID, from *retwis.TimelinePosition) error {
	ctx, stop := context.WithTimeoutCause(s.ctx, h.options.JoinTimeout, errJoinTimeout)
	defer stop()
	p, life, err := h.partition(ctx, timeline)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(errNotRunning) })()
	if s.counts {
		if err := h.watchCounts(); err != nil {
			return err
		}
		context.AfterFunc(s.ctx, h.counting.leave)
	}
	if err := p.join(ctx, s, timeline, from); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// join makes s a subscriber of its timeline. It reads the timeline only when presence is
// registered and the channel is subscribed, so that each later event arrives as a message.
func (p *partition) join(ctx context.Context, s *subscription, timeline retwis.TimelineID, from *retwis.TimelinePosition) error {
	f, err := p.hold(timeline)
	if err != nil {
		return err
	}
	defer p.release(f)
	if err := p.awaitMessages(ctx, f); err != nil {
		return err
	}
	for reads := 1; ; reads++ {
		r, err := p.read(ctx, f, from)
		if err != nil {
			return err
		}
		if s.viewer == timeline.User() {
			// The filters may have changed after the session was read, without a message while nobody watched the timeline.
			s.filter = max(s.filter, r.events.FilterEpoch)
		}
		caughtUp, err := p.attach(f, s, r, false)
		if err != nil || caughtUp == nil {
			return err
		}
		// The feed read the list later than the subscriber. Its reading contains the
		// subscriber's position, unless the list was rewritten meanwhile.
		if err := await(ctx, caughtUp); err != nil {
			return err
		}
		caughtUp, err = p.attach(f, s, r, reads == maxJoinReads)
		if err != nil || caughtUp == nil {
			return err
		}
	}
}

// awaitMessages waits until presence of the timeline is registered and the channel of the
// partition is subscribed.
func (p *partition) awaitMessages(ctx context.Context, f *feed) error {
	if err := await(ctx, f.entered); err != nil {
		return err
	}
	p.mu.Lock()
	joined := p.whenSubscribed
	p.mu.Unlock()
	return await(ctx, joined)
}

// read reads the events after from, or the current position if from is nil.
func (p *partition) read(ctx context.Context, f *feed, from *retwis.TimelinePosition) (reading, error) {
	p.mu.Lock()
	f.accepting = true // messages from here on may contain events that the read lacks
	r := reading{from: from, removals: f.removals, comparisons: f.comparisons}
	p.mu.Unlock()
	var err error
	if from == nil {
		r.events, err = p.hub.readPosition(ctx, f.timeline)
	} else {
		r.events, err = p.hub.readSince(ctx, *from)
	}
	return r, err
}

// attach makes s a subscriber of the feed. If the feed cannot connect the reading with its
// own position, it catches up, and attach returns a channel that is closed afterwards.
func (p *partition) attach(f *feed, s *subscription, r reading, force bool) (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errNotRunning
	}
	if f.ended || r.events.Gone {
		return nil, retwis.ErrTimelineGone
	}
	if !f.subscribers.admits(s.client, p.hub.options) {
		return nil, errTooManyOfUser
	}
	if !f.attach(s, r, force) {
		if !f.awaited && s.network() != cost.NetworkOf(f.client()) {
			f.awaited = true
			p.hub.queue.hurry(f)
		}
		f.verifyAndCatchUp()
		return f.whenIdle(), nil
	}
	h := p.hub
	h.counts.subscribers.Add(1)
	if r.from != nil {
		h.counts.replays.Add(1)
	}
	h.wg.Add(1)
	context.AfterFunc(s.ctx, func() {
		defer h.wg.Done()
		p.unsubscribe(f, s)
	})
	return nil, nil
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
