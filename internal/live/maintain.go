package live

import (
	"context"
	"time"
)

// maintain runs the periodic work of the partition until ctx is done. It subscribes to the
// channel while the partition has feeds, registers their presence, retries failed catch-ups,
// and starts the periodic comparison of feeds with their lists.
func (p *partition) maintain(ctx context.Context) {
	var stopListening func()
	for ctx.Err() == nil {
		stopListening = p.listenIfNeeded(ctx, stopListening)
		p.sendLeaves(ctx)
		p.sendEntries(ctx)
		p.retryFailed()
		p.startChecks(ctx)

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

// listenIfNeeded starts listening when the partition has feeds, and stops Linger after it
// lost the last one. It takes and returns the function that stops listening, nil if the
// partition does not listen.
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

// retryFailed queues the feeds whose catch-up failed, once their back-off is over.
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

// untilNext returns the time until the next periodic work, if nothing wakes maintain before.
func (p *partition) untilNext(listening bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := time.Now().Add(time.Hour)
	at := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	if len(p.presence.leave) > 0 {
		at(time.Now())
	}
	if len(p.feeds) > 0 {
		if !p.checks.running {
			at(p.checks.nextAt())
		}
		at(later(p.presence.refreshAt, p.presence.retryAt))
	} else if listening {
		at(p.idleSince.Add(p.hub.options.Linger))
	}
	if len(p.presence.enter) > 0 {
		at(p.presence.retryAt)
	} else if len(p.presence.refresh) > 0 {
		at(later(p.presence.batchAt, p.presence.retryAt))
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
