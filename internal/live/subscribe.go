package live

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// maxJoinReads is how often a subscriber reads a timeline that changes all the time, before
// it is told that it lost continuity.
const maxJoinReads = 4

var errJoinTimeout = errors.New("it took too long to listen to the timeline")

// Attach tells a sink a timeline's events until ctx is done: those since the cursor, then
// those that happen. Without a cursor it begins now. Whether the reader may see the
// timeline is decided before. After an error the sink is not called.
//
// The cursor of another timeline, or no cursor at all, is [retwis.ErrBadCursor]. A
// reader that does not keep up is cut off with [retwis.ErrSlowConsumer]. A timeline that is
// gone, or goes, is [retwis.ErrTimelineGone].
func (h *Hub) Attach(ctx context.Context, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error {
	var from *retwis.TimelinePosition
	if after != "" {
		position, err := after.TimelinePosition(timeline)
		if err != nil {
			return err
		}
		from = &position
	}
	p, life, err := h.partition(timeline)
	if err != nil {
		return err
	}

	s := newSubscription(ctx, h, sink)
	joining, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(errNotRunning) })()
	joining, stop := context.WithTimeoutCause(joining, h.options.JoinTimeout, errJoinTimeout)
	defer stop()
	if err := p.join(joining, s, timeline, from); err != nil {
		if joining.Err() != nil {
			err = context.Cause(joining)
		}
		s.cancel()
		return fmt.Errorf("subscribing to timeline %s: %w", timeline, err)
	}
	return nil
}

// join makes s a subscriber of its timeline. Presence and the channel come before the
// read, so that what the read does not say a message will.
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
		caughtUp, err := p.attach(f, s, r, false)
		if err != nil || caughtUp == nil {
			return err
		}
		// The feed reads later than this subscriber did, and so passes its place, unless
		// the list was changed meanwhile.
		if err := await(ctx, caughtUp); err != nil {
			return err
		}
		caughtUp, err = p.attach(f, s, r, reads == maxJoinReads)
		if err != nil || caughtUp == nil {
			return err
		}
	}
}

// awaitMessages returns when messages about the timeline come in.
func (p *partition) awaitMessages(ctx context.Context, f *feed) error {
	if err := await(ctx, f.entered); err != nil {
		return err
	}
	p.mu.Lock()
	joined := p.whenSubscribed
	p.mu.Unlock()
	return await(ctx, joined)
}

// read reads what happened since from, or where the timeline stands now.
func (p *partition) read(ctx context.Context, f *feed, from *retwis.TimelinePosition) (reading, error) {
	p.mu.Lock()
	f.accepting = true // messages from here on may say what the read does not
	r := reading{from: from, removals: f.removals}
	p.mu.Unlock()
	var err error
	if from == nil {
		r.news.Position, err = p.hub.readPosition(ctx, f.timeline)
	} else {
		r.news, err = p.hub.readSince(ctx, *from)
	}
	return r, err
}

// attach makes s a subscriber. When what it read does not meet the feed, it makes
// the feed read too, and returns a channel that is closed when it has.
func (p *partition) attach(f *feed, s *subscription, r reading, force bool) (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errNotRunning
	}
	if f.ended || r.news.Gone {
		return nil, retwis.ErrTimelineGone
	}
	if !f.attach(s, r, force) {
		f.requestCatchUp()
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
