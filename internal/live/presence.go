package live

import (
	"context"
	"slices"
	"time"

	"retwis/internal/retwis"
)

const (
	presenceBatch = 10 // timelines of one call, which takes Redis up to 0.5 ms
	presenceCalls = 2  // calls of one hub at once: those of all partitions are due in the same second
	leaveTimeout  = 2 * time.Second
)

// presence holds the changes of presence that the source has not yet received. Only the
// goroutine of maintain sends them, one call at a time. The last change of a timeline
// therefore wins, even if a leave and an entry of the same timeline race.
type presence struct {
	enter     []*feed // new feeds, and those of a failed call
	refresh   []*feed // the rest of those whose presence is being refreshed
	leave     map[retwis.TimelineID]struct{}
	refreshAt time.Time     // of the next refresh
	batchAt   time.Time     // of the next call of the current refresh
	pace      time.Duration // between two of its calls
	failures  int
	retryAt   time.Time
}

func (p *presence) left(t retwis.TimelineID) {
	if p.leave == nil {
		p.leave = map[retwis.TimelineID]struct{}{}
	}
	p.leave[t] = struct{}{}
}

// sendLeaves ends the presence of some timelines without subscribers. The presence of new feeds, whose subscribers wait, is registered
// before the next ones. After a failure it forgets all, since presence that is not refreshed lapses.
func (p *partition) sendLeaves(ctx context.Context) {
	p.mu.Lock()
	var left []retwis.TimelineID
	for t := range p.presence.leave {
		if len(left) == presenceBatch {
			break
		}
		delete(p.presence.leave, t)
		if p.feeds[t] == nil {
			left = append(left, t)
		}
	}
	p.mu.Unlock()
	if !p.leaveTimelines(ctx, left) {
		p.mu.Lock()
		p.presence.leave = nil
		p.mu.Unlock()
	}
}

// leaveTimelines ends the presence of timelines. It reports false after a failure.
func (p *partition) leaveTimelines(ctx context.Context, left []retwis.TimelineID) bool {
	for batch := range slices.Chunk(left, presenceBatch) {
		if err := p.setOffline(ctx, batch); err != nil {
			p.hub.log.DebugContext(ctx, "live: ending presence failed, presence lapses by itself", "partition", p.index, "err", err)
			return false
		}
	}
	return true
}

func (p *partition) setOffline(ctx context.Context, timelines []retwis.TimelineID) error {
	ctx, cancel := p.hub.callContext(ctx)
	defer cancel()
	done, err := p.hub.beginPresenceCall(ctx)
	if err != nil {
		return err
	}
	defer done()
	return p.hub.source.SetOffline(ctx, p.hub.options.Node, timelines)
}

// beginPresenceCall waits until a call that changes presence may begin: see [presenceCalls]. The returned function ends it.
func (h *Hub) beginPresenceCall(ctx context.Context) (done func(), err error) {
	select {
	case h.presenceCalls <- struct{}{}:
		return func() { <-h.presenceCalls }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// leaveAll ends the presence of all timelines when the hub stops, so that partitions no
// longer publish to it.
func (p *partition) leaveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	p.mu.Lock()
	var left []retwis.TimelineID
	for t := range p.presence.leave {
		if p.feeds[t] == nil {
			left = append(left, t)
		}
	}
	for t := range p.feeds {
		left = append(left, t)
	}
	p.mu.Unlock()
	p.leaveTimelines(ctx, left)
}

// sendEntries registers the presence of new feeds, and refreshes that of all feeds every
// third of PresenceTTL. New feeds come first: their subscribers wait. The calls of a refresh are spread over half of that
// time, so that new feeds of any partition find few calls before theirs.
func (p *partition) sendEntries(ctx context.Context) {
	for batch := p.nextEntries(); len(batch) > 0; batch = p.nextEntries() {
		if err := p.enter(ctx, batch); err != nil {
			if ctx.Err() == nil {
				p.hub.log.WarnContext(ctx, "live: registering presence failed, retrying", "partition", p.index, "err", err)
			}
			p.retryEntries(batch)
			return
		}
		p.mu.Lock()
		p.presence.failures = 0
		p.mu.Unlock()
	}
}

// nextEntries removes and returns the next feeds to register.
func (p *partition) nextEntries() []*feed {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.presence.retryAt) {
		return nil
	}
	if !now.Before(p.presence.refreshAt) && len(p.presence.refresh) == 0 {
		p.presence.refreshAt = now.Add(p.hub.options.PresenceTTL / 3)
		p.presence.enter, p.presence.refresh = nil, make([]*feed, 0, len(p.feeds))
		for _, f := range p.feeds {
			if f.enteredAt.IsZero() {
				p.presence.enter = append(p.presence.enter, f)
			} else {
				p.presence.refresh = append(p.presence.refresh, f)
			}
		}
		p.presence.batchAt, p.presence.pace = now, p.hub.options.PresenceTTL/6/time.Duration(1+len(p.presence.refresh)/presenceBatch)
	}
	due := &p.presence.enter
	if len(*due) == 0 {
		if len(p.presence.refresh) == 0 || now.Before(p.presence.batchAt) {
			return nil
		}
		due, p.presence.batchAt = &p.presence.refresh, now.Add(p.presence.pace)
	}
	n := min(len(*due), presenceBatch)
	batch := (*due)[:n:n]
	if *due = (*due)[n:]; len(*due) == 0 {
		*due = nil
	}
	return batch
}

// enter registers the presence of a batch of feeds. The call may take a third of the TTL. A
// feed whose presence is older than two thirds of the TTL may therefore miss messages before
// the call takes effect, and catches up afterwards. So does a feed whose presence was lost in
// a failover, or by a step of the clock of Redis.
func (p *partition) enter(ctx context.Context, feeds []*feed) error {
	done, err := p.hub.beginPresenceCall(ctx)
	if err != nil {
		return err
	}
	defer done()
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
	absent, err := p.hub.source.SetOnline(ctx, p.hub.options.Node, names, ttl)
	if err != nil {
		return err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	lost := make(map[retwis.TimelineID]bool, len(absent))
	for _, t := range absent {
		lost[t] = true
	}
	for _, f := range entering {
		if f.enteredAt.IsZero() {
			close(f.entered)
		} else if lost[f.timeline] {
			late = append(late, f)
		}
		f.enteredAt = began
	}
	for _, f := range late {
		f.compareFilters = true
		f.requestCatchUp()
	}
	return nil
}

// retryEntries schedules another registration of feeds. Registering presence twice has no
// further effect.
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
