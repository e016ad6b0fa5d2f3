package live

import (
	"context"
	"slices"
	"time"

	"retwis/internal/retwis"
)

const (
	presenceBatch  = 500
	leaveTimeout   = 2 * time.Second
	checksPerRound = 8 // times per CheckEvery that feeds are looked through
)

// presence is what is to be told to the source about the timelines served here. Only
// keep tells it, one call after the other: so what was wanted last is what holds,
// however a leave and an entry of the same timeline race.
type presence struct {
	enter     []*feed
	leave     map[retwis.TimelineID]struct{}
	refreshAt time.Time
	failures  int
	retryAt   time.Time
}

func (p *presence) left(t retwis.TimelineID) {
	if p.leave == nil {
		p.leave = map[retwis.TimelineID]struct{}{}
	}
	p.leave[t] = struct{}{}
}

// sendLeaves tells which timelines are no longer served. It does not insist: presence
// that is not refreshed lapses.
func (p *partition) sendLeaves(ctx context.Context) {
	p.mu.Lock()
	var gone []retwis.TimelineID
	for t := range p.presence.leave {
		if p.feeds[t] == nil {
			gone = append(gone, t)
		}
	}
	p.presence.leave = nil
	p.mu.Unlock()
	p.leaveTimelines(ctx, gone)
}

func (p *partition) leaveTimelines(ctx context.Context, gone []retwis.TimelineID) {
	for batch := range slices.Chunk(gone, presenceBatch) {
		ctx, cancel := p.hub.callContext(ctx)
		err := p.hub.source.Leave(ctx, p.hub.options.Node, batch)
		cancel()
		if err != nil {
			p.hub.log.DebugContext(ctx, "leaving timelines failed", "partition", p.index, "err", err)
			return
		}
	}
}

// leaveAll leaves everything when the hub stops, so that nobody publishes to it.
func (p *partition) leaveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	p.mu.Lock()
	var gone []retwis.TimelineID
	for t := range p.presence.leave {
		if p.feeds[t] == nil {
			gone = append(gone, t)
		}
	}
	for t := range p.feeds {
		gone = append(gone, t)
	}
	p.mu.Unlock()
	p.leaveTimelines(ctx, gone)
}

// sendEntries enters new timelines, and all again when it is time to.
func (p *partition) sendEntries(ctx context.Context) {
	now := time.Now()
	p.mu.Lock()
	if now.Before(p.presence.retryAt) {
		p.mu.Unlock()
		return
	}
	due := p.presence.enter
	if !now.Before(p.presence.refreshAt) {
		p.presence.refreshAt = now.Add(p.hub.options.PresenceTTL / 3)
		due = make([]*feed, 0, len(p.feeds))
		for _, f := range p.feeds {
			due = append(due, f)
		}
	}
	p.presence.enter = nil
	p.mu.Unlock()

	for batch := range slices.Chunk(due, presenceBatch) {
		if err := p.enter(ctx, batch); err != nil {
			if ctx.Err() == nil {
				p.hub.log.WarnContext(ctx, "entering timelines failed", "partition", p.index, "err", err)
			}
			p.retryEntries(due)
			return
		}
	}
	p.mu.Lock()
	p.presence.failures = 0
	p.mu.Unlock()
}

// enter enters a batch of feeds. Presence that was entered two thirds of the ttl ago
// may lapse meanwhile, since the call may take the last third: what was missed is read.
func (p *partition) enter(ctx context.Context, feeds []*feed) error {
	ttl, began := p.hub.options.PresenceTTL, time.Now()
	var names []retwis.TimelineID
	var entering, late []*feed
	p.mu.Lock()
	for _, f := range feeds {
		if f.dropped {
			continue
		}
		names, entering = append(names, f.timeline), append(entering, f)
		if !f.enteredAt.IsZero() && began.Sub(f.enteredAt) > ttl*2/3 {
			late = append(late, f)
		}
	}
	p.mu.Unlock()
	if len(names) == 0 {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, min(p.hub.options.CallTimeout, ttl/3))
	defer cancel()
	if err := p.hub.source.Enter(ctx, p.hub.options.Node, names, ttl); err != nil {
		return err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range entering {
		if f.enteredAt.IsZero() {
			close(f.entered)
		}
		f.enteredAt = began
	}
	for _, f := range late {
		f.requestCatchUp()
	}
	return nil
}

// retryEntries has feeds entered again after a while. Entering twice is harmless.
func (p *partition) retryEntries(feeds []*feed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range feeds {
		if !f.dropped {
			p.presence.enter = append(p.presence.enter, f)
		}
	}
	p.presence.retryAt = time.Now().Add(backoff(p.presence.failures))
	p.presence.failures++
}
