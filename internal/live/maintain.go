package live

import (
	"context"
	"time"
)

// maintain looks after the partition until ctx is done: that it is listened to while it is
// needed, that the source knows which timelines are served here, and that feeds are read
// for again when that failed, or when it is time to compare them with their lists.
func (p *partition) maintain(ctx context.Context) {
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
		case <-p.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
	p.leaveAll(ctx)
}

// listenIfNeeded starts to listen, or stops it some time after the last feed left. stop
// is nil when nobody listens, and so is what is returned.
func (p *partition) listenIfNeeded(ctx context.Context, stop func()) func() {
	p.mu.Lock()
	needed := len(p.feeds) > 0
	lingering := time.Since(p.idleSince) < p.hub.options.Linger
	if !needed && !lingering {
		p.channelLost()
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

// retryFailed reads again for feeds that could not be brought up to date.
func (p *partition) retryFailed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.retryAt) {
		return
	}
	for _, f := range p.failedFeeds {
		p.hub.queue.add(f)
	}
	p.failedFeeds = nil
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
		if f.positioned && !f.busy && !now.Before(f.checkAt) {
			f.requestCatchUp()
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
	if len(p.failedFeeds) > 0 {
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
