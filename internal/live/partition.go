package live

import (
	"context"
	"sync"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// partition serves the timelines of one partition that have subscribers in this process. Its
// goroutines run apply, maintain, and listen while there are feeds.
type partition struct {
	hub    *Hub
	life   context.Context // of the hub
	index  int
	inbox  inbox
	passed int           // recipients whose messages were passed on since others could run; only apply uses it
	woken  chan struct{} // wakes maintain

	mu        sync.Mutex
	stopped   bool
	feeds     map[retwis.TimelineID]*feed
	firsts    census[ratelimit.Key] // of the first subscribers of all feeds, by network
	idleSince time.Time             // when the last feed was dropped

	subscribed     bool          // the channel is subscribed
	lastHeard      time.Time     // when the channel last delivered a message or a probe
	whenSubscribed chan struct{} // closed when the channel is subscribed

	presence presence

	failedFeeds []*feed // feeds whose catch-up failed
	failures    int     // consecutive failures of catch-ups
	retryAt     time.Time
	checks      checks
}

func newPartition(life context.Context, h *Hub, index int) *partition {
	return &partition{
		hub:            h,
		life:           life,
		index:          index,
		inbox:          inbox{ready: make(chan struct{}, 1)},
		woken:          make(chan struct{}, 1),
		feeds:          map[retwis.TimelineID]*feed{},
		firsts:         census[ratelimit.Key]{},
		whenSubscribed: make(chan struct{}),
	}
}

// hold returns the feed of a timeline. It creates the feed if there is none, and keeps it
// until release.
func (p *partition) hold(timeline retwis.TimelineID) (*feed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errNotRunning
	}
	f := p.feeds[timeline]
	if f == nil {
		f = &feed{partition: p, timeline: timeline, busy: true, entered: make(chan struct{})}
		p.feeds[timeline] = f
		if !timeline.IsPostCounts() {
			p.hub.counts.feeds.Add(1)
		}
		p.presence.enter = append(p.presence.enter, f)
		p.wake()
	}
	f.joining++
	return f, nil
}

// release undoes hold.
func (p *partition) release(f *feed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.joining--
	p.dropIfUnused(f)
}

// unsubscribe removes s from its feed and closes it.
func (p *partition) unsubscribe(f *feed, s *subscription) {
	turn := p.hub.options.Shares.Decode(p.life, s.client.OfNetwork()) // thousands may end at once
	defer turn.End()
	p.mu.Lock()
	f.remove(s)
	p.dropIfUnused(f)
	p.mu.Unlock()
	s.close()
	p.hub.counts.subscribers.Add(-1)
}

// mayBeFirst reports whether a subscriber of a network may be among the first ones of a feed. A message may be for hundreds of feeds, of which one goroutine
// hands it to the first subscribers, and the next message waits. While all are of one network, it waits for nobody else.
func (p *partition) mayBeFirst(network ratelimit.Key) bool {
	return len(p.firsts) < 2 || p.firsts[network] < p.hub.options.MaxFirstOfPartition
}

// dropIfUnused removes a feed that has no subscribers and none that is joining.
func (p *partition) dropIfUnused(f *feed) {
	if f.joining > 0 || f.subscribers.len() > 0 {
		return
	}
	f.dropped = true
	delete(p.feeds, f.timeline)
	if !f.timeline.IsPostCounts() {
		p.hub.counts.feeds.Add(-1)
	}
	p.presence.left(f.timeline)
	if len(p.feeds) == 0 {
		p.idleSince = time.Now()
	}
	p.wake()
}

// stop ends all subscriptions and refuses new ones.
func (p *partition) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for _, f := range p.feeds {
		for s := range f.subscribers.all() {
			s.cancel()
		}
	}
}

// catchUpDone records the result of a catch-up. It schedules a retry after a failure.
func (p *partition) catchUpDone(f *feed, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.failures = 0
		return
	}
	if len(p.failedFeeds) == 0 {
		p.retryAt = time.Now().Add(backoff(p.failures))
		p.failures++
		p.wake()
	}
	p.failedFeeds = append(p.failedFeeds, f)
}

// wake makes maintain look for work at once.
func (p *partition) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}
