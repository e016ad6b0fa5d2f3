package live

import (
	"context"
	"slices"
	"time"

	"retwis/internal/retwis"
)

const (
	presenceBatch  = 500
	farewellTime   = 2 * time.Second
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

// keep looks after the partition until ctx is done: that it is listened to while it is
// needed, that the source knows which timelines are served here, and that feeds are read
// for again when that failed, or when it is time to compare them with their lists.
func (p *partition) keep(ctx context.Context) {
	var stopListening func()
	for ctx.Err() == nil {
		stopListening = p.listenIfNeeded(ctx, stopListening)
		p.sendLeaves(ctx)
		p.sendEntries(ctx)
		p.retryFailed()
		p.startChecks()

		timer := time.NewTimer(p.untilNext(stopListening != nil))
		select {
		case <-ctx.Done():
		case <-p.nudged:
		case <-timer.C:
		}
		timer.Stop()
	}
	p.farewell(ctx)
}

// listenIfNeeded starts to listen, or stops it some time after the last feed left. stop
// is nil when nobody listens, and so is what is returned.
func (p *partition) listenIfNeeded(ctx context.Context, stop func()) func() {
	p.mu.Lock()
	needed := len(p.feeds) > 0
	lingering := time.Since(p.idleSince) < p.hub.options.Linger
	if !needed && !lingering {
		p.parted()
	}
	p.mu.Unlock()

	switch {
	case needed && stop == nil:
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		p.hub.wg.Go(func() {
			defer close(done)
			p.listen(ctx)
		})
		return func() { cancel(); <-done }
	case !needed && !lingering && stop != nil:
		stop()
		return nil
	default:
		return stop
	}
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
	p.tellGone(ctx, gone)
}

func (p *partition) tellGone(ctx context.Context, gone []retwis.TimelineID) {
	for batch := range slices.Chunk(gone, presenceBatch) {
		ctx, cancel := p.hub.call(ctx)
		err := p.hub.source.Leave(ctx, p.hub.options.Node, batch)
		cancel()
		if err != nil {
			p.hub.log.DebugContext(ctx, "leaving timelines failed", "partition", p.index, "err", err)
			return
		}
	}
}

// farewell leaves everything when the hub stops, so that nobody publishes to it.
func (p *partition) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
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
	p.tellGone(ctx, gone)
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
		if f.gone {
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
		f.fallBehind()
	}
	return nil
}

// retryEntries has feeds entered again after a while. Entering twice is harmless.
func (p *partition) retryEntries(feeds []*feed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range feeds {
		if !f.gone {
			p.presence.enter = append(p.presence.enter, f)
		}
	}
	p.presence.retryAt = time.Now().Add(backoff(p.presence.failures))
	p.presence.failures++
}

// retryFailed reads again for feeds that could not be brought up to date.
func (p *partition) retryFailed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.retryAt) {
		return
	}
	for _, f := range p.failed {
		p.hub.work.add(f)
	}
	p.failed = nil
}

// startChecks makes feeds that were not compared with their lists for long do so.
func (p *partition) startChecks() {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.checkAt) {
		return
	}
	p.checkAt = now.Add(p.hub.options.CheckEvery / checksPerRound)
	for _, f := range p.feeds {
		if f.placed && !f.busy && !now.Before(f.checkAt) {
			f.fallBehind()
		}
	}
}

// untilNext returns how long keep has nothing to do unless it is nudged.
func (p *partition) untilNext(listening bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := time.Now().Add(time.Hour)
	at := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	if len(p.feeds) > 0 {
		at(p.checkAt)
		at(later(p.presence.refreshAt, p.presence.retryAt))
	} else if listening {
		at(p.idleSince.Add(p.hub.options.Linger))
	}
	if len(p.presence.enter) > 0 {
		at(p.presence.retryAt)
	}
	if len(p.failed) > 0 {
		at(p.retryAt)
	}
	return time.Until(next)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
