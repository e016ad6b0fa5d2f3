package live

import (
	"sync"
	"time"

	"retwis/internal/retwis"
)

// partition serves the timelines of one partition that have subscribers here. Its
// goroutines are apply, keep, and while there are subscribers listen.
type partition struct {
	hub   *Hub
	index int
	inbox inbox
	woken chan struct{} // wakes keep

	mu        sync.Mutex
	stopped   bool
	feeds     map[retwis.TimelineID]*feed
	idleSince time.Time // when the last feed was gone

	subscribed     bool          // the channel is subscribed
	lastHeard      time.Time     // when it was last known to deliver
	whenSubscribed chan struct{} // closed when it is

	presence presence

	failedFeeds []*feed // to be read for again
	failures    int     // of such reads, in a row
	retryAt     time.Time
	checkAt     time.Time // when to look for feeds that are due for a check
}

func newPartition(h *Hub, index int) *partition {
	return &partition{
		hub:            h,
		index:          index,
		inbox:          inbox{ready: make(chan struct{}, 1)},
		woken:          make(chan struct{}, 1),
		feeds:          map[retwis.TimelineID]*feed{},
		whenSubscribed: make(chan struct{}),
	}
}

// hold returns the feed of a timeline and keeps it until release.
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
		p.hub.counts.feeds.Add(1)
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

// unsubscribe ends a subscription.
func (p *partition) unsubscribe(f *feed, s *subscription) {
	p.mu.Lock()
	f.remove(s)
	p.dropIfUnused(f)
	p.mu.Unlock()
	s.close()
	p.hub.counts.subscribers.Add(-1)
}

func (p *partition) dropIfUnused(f *feed) {
	if f.joining > 0 || len(f.subscribers) > 0 {
		return
	}
	f.dropped = true
	delete(p.feeds, f.timeline)
	p.hub.counts.feeds.Add(-1)
	p.presence.left(f.timeline)
	if len(p.feeds) == 0 {
		p.idleSince = time.Now()
	}
	p.wake()
}

// stop ends every subscription; there will be no other.
func (p *partition) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for _, f := range p.feeds {
		for _, s := range f.subscribers {
			s.cancel()
		}
	}
}

// catchUpDone takes note of how reading for a feed went.
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

func (p *partition) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}
