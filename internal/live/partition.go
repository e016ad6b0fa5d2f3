package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// partition serves the timelines of one partition that have subscribers here. Its
// goroutines are apply, keep, and while there are subscribers listen.
type partition struct {
	hub    *Hub
	index  int
	inbox  inbox
	nudged chan struct{} // wakes keep

	mu        sync.Mutex
	stopped   bool
	feeds     map[retwis.TimelineID]*feed
	idleSince time.Time // when the last feed was gone

	joined     bool          // the channel is subscribed
	freshAt    time.Time     // when it was last known to deliver
	whenJoined chan struct{} // closed when it is

	presence presence

	failed   []*feed // to be read for again
	failures int     // of such reads, in a row
	retryAt  time.Time
	checkAt  time.Time // when to look for feeds that are due for a check
}

func newPartition(h *Hub, index int) *partition {
	return &partition{
		hub:        h,
		index:      index,
		inbox:      inbox{ready: make(chan struct{}, 1)},
		nudged:     make(chan struct{}, 1),
		feeds:      map[retwis.TimelineID]*feed{},
		whenJoined: make(chan struct{}),
	}
}

// apply acts on messages, in order, until ctx is done.
func (p *partition) apply(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.inbox.ready:
		}
		for batch := p.inbox.take(); len(batch) > 0 && ctx.Err() == nil; batch = p.inbox.take() {
			posts, err := p.load(ctx, batch)
			if err != nil && ctx.Err() == nil {
				p.hub.log.WarnContext(ctx, "loading posts for live messages failed", "partition", p.index, "err", err)
			}
			for _, m := range batch {
				p.act(m, posts)
			}
		}
	}
}

// load returns the posts that were pushed to feeds here; those that are deleted are
// there as nil.
func (p *partition) load(ctx context.Context, batch []retwis.LiveMessage) (map[retwis.PostID]*retwis.Post, error) {
	posts := map[retwis.PostID]*retwis.Post{}
	var ids []retwis.PostID
	p.mu.Lock()
	for _, m := range batch {
		if _, seen := posts[m.Post]; m.Kind != retwis.LivePushed || seen {
			continue
		}
		if slices.ContainsFunc(m.Recipients, func(r retwis.Recipient) bool { return p.feeds[r.Timeline] != nil }) {
			posts[m.Post] = nil
			ids = append(ids, m.Post)
		}
	}
	p.mu.Unlock()
	for some := range slices.Chunk(ids, postBatch) {
		loaded, err := p.hub.posts(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, post := range loaded {
			posts[some[i]] = post
		}
	}
	return posts, nil
}

func (p *partition) act(m retwis.LiveMessage, posts map[retwis.PostID]*retwis.Post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Kind == retwis.LiveJoined {
		p.rejoined()
		return
	}
	body, loaded := posts[m.Post]
	for _, r := range m.Recipients {
		f := p.feeds[r.Timeline]
		switch {
		case f == nil:
		case m.Kind == retwis.LivePushed && !loaded:
			f.fallBehind()
		default:
			f.receive(message{kind: m.Kind, post: m.Post, author: m.Author, before: r.Before, body: body})
		}
	}
}

// rejoined makes every feed look for what it missed.
func (p *partition) rejoined() {
	p.freshAt = time.Now()
	if !p.joined {
		p.joined = true
		close(p.whenJoined)
	}
	for _, f := range p.feeds {
		f.fallBehind()
	}
}

func (p *partition) parted() {
	if p.joined {
		p.joined = false
		p.whenJoined = make(chan struct{})
	}
}

// ready returns nil when nobody needs the channel, or it is subscribed and delivered
// something not long ago, if only a probe.
func (p *partition) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.hub.options
	switch silence := time.Since(p.freshAt); {
	case len(p.feeds) == 0:
		return nil
	case !p.joined:
		return fmt.Errorf("the live channel of partition %d is not subscribed", p.index)
	case silence > 2*(o.ProbeEvery+o.ProbeWait)+o.CallTimeout:
		return fmt.Errorf("nothing came by the live channel of partition %d for %s, nor could it be tried", p.index, silence.Round(time.Second))
	}
	return nil
}

// fresh notes that the channel delivers.
func (p *partition) fresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freshAt = time.Now()
}

// listen subscribes to the partition's channel until ctx is done.
func (p *partition) listen(ctx context.Context) {
	for failures := 0; ; failures++ {
		began := time.Now()
		err := p.hear(ctx)
		p.mu.Lock()
		p.parted()
		p.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended early")
		}
		p.hub.log.WarnContext(ctx, "listening for live messages failed", "partition", p.index, "err", err)
		if time.Since(began) > time.Minute {
			failures = 0
		}
		_ = sleep.For(ctx, backoff(failures))
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
		p.nudge()
	}
	f.joining++
	return f, nil
}

// release undoes hold.
func (p *partition) release(f *feed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.joining--
	p.dropUnneeded(f)
}

// leave ends a subscription.
func (p *partition) leave(f *feed, s *subscription) {
	p.mu.Lock()
	f.leave(s)
	p.dropUnneeded(f)
	p.mu.Unlock()
	s.close()
	p.hub.counts.subscribers.Add(-1)
}

func (p *partition) dropUnneeded(f *feed) {
	if f.joining > 0 || len(f.subscribers) > 0 {
		return
	}
	f.gone = true
	delete(p.feeds, f.timeline)
	p.hub.counts.feeds.Add(-1)
	p.presence.left(f.timeline)
	if len(p.feeds) == 0 {
		p.idleSince = time.Now()
	}
	p.nudge()
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

// readDone takes note of how reading for a feed went.
func (p *partition) readDone(f *feed, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.failures = 0
		return
	}
	if len(p.failed) == 0 {
		p.retryAt = time.Now().Add(backoff(p.failures))
		p.failures++
		p.nudge()
	}
	p.failed = append(p.failed, f)
}

func (p *partition) nudge() {
	select {
	case p.nudged <- struct{}{}:
	default:
	}
}
