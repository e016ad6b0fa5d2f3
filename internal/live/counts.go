package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"retwis/internal/cost"
	"retwis/internal/netpoll"
	"retwis/internal/retwis"
)

const (
	countEvery = time.Second // interval between two events about one post
	topLength  = 100         // newest entries of a timeline whose posts have such events
	maxCounted = 10_000      // changed posts that wait for their event; further ones get none
	maxEvents  = 10          // events that a timeline has at once; its other changed posts have theirs later
	topReads   = 4           // timelines whose newest posts are read at once: one network may have thousands of new ones
)

// counting is the part of a hub that sends changed counts of posts. It runs while there are subscribers that receive them.
// Messages about counts may be lost: subscribers read the counts with the next page.
type counting struct {
	mu        sync.Mutex
	running   bool
	watchers  int
	idleSince time.Time // when the last watcher left
	changed   postSet
	version   int // of the last posts taken; it never repeats in a process
}

// add records that the counts of a post have changed.
func (c *counting) add(post retwis.PostID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers > 0 && len(c.changed.posts) < maxCounted {
		c.changed.add(post)
	}
}

// take returns the posts whose counts have changed since the last call, and a version of their events.
func (c *counting) take() (changed *postSet, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.changed
	c.changed = postSet{}
	c.version++
	return &taken, c.version
}

// leave removes a subscriber that receives changed counts.
func (c *counting) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers--; c.watchers == 0 {
		c.idleSince = time.Now()
	}
}

// end reports whether there has been no watcher for a while, which ends the run.
func (c *counting) end(after time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers > 0 || time.Since(c.idleSince) < after {
		return false
	}
	c.running, c.changed = false, postSet{}
	return true
}

// watchCounts adds a subscriber that receives changed counts. [counting.leave] removes it.
func (h *Hub) watchCounts() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil || h.running.Err() != nil {
		return errNotRunning
	}
	c := &h.counting
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers++
	if !c.running {
		c.running = true
		ctx := h.running
		h.wg.Go(func() { h.runCounts(ctx) })
	}
	return nil
}

// runCounts registers at all partitions, which then publish the posts whose counts change, and sends the events, until ctx is
// done. Like a channel, it lingers after the last subscriber has left: registering takes a command for each partition.
func (h *Hub) runCounts(ctx context.Context) {
	var held []*feed // feeds that only register the presence of the process
	defer func() {
		for _, f := range held {
			f.partition.release(f)
		}
	}()
	for number := range h.source.Partitions() {
		id := retwis.PostCounts(number)
		p, _, err := h.partition(ctx, id)
		if err != nil {
			return // the hub stops
		}
		f, err := p.hold(id)
		if err != nil {
			return
		}
		held = append(held, f)
	}
	ticker := time.NewTicker(countEvery)
	defer ticker.Stop()
	more := false // some timelines have further changed posts
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if h.counting.end(h.options.Linger) {
			return
		}
		changed, version := h.counting.take()
		if len(changed.posts) == 0 && !more {
			continue
		}
		var err error
		if more, err = h.sendCounts(cost.With(ctx, h.meter(cost.ForSeveral())), changed, version); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "live: sending changed counts failed, subscribers read them with their next page", "err", err)
		}
	}
}

// sendCounts sends changed posts to the subscribers of the timelines that have them among their newest posts, and reports whether some have more. A
// timeline that cannot be read does not keep the others from their events.
func (h *Hub) sendCounts(ctx context.Context, changed *postSet, version int) (more bool, err error) {
	failure := h.readTops(ctx)
	var due []dueCounts
	posts := map[retwis.PostID]*retwis.Post{}
	h.eachCounting(func(f *feed) {
		f.noteChanged(changed)
		if len(f.changed) == 0 {
			return
		}
		d := dueCounts{f, f.takeChanged()}
		due, more = append(due, d), more || len(f.changed) > 0
		for _, id := range d.posts {
			posts[id] = nil
		}
	})
	for some := range slices.Chunk(slices.Sorted(maps.Keys(posts)), postBatch) {
		entries := make([]retwis.Element, len(some))
		for i, post := range some {
			entries[i] = retwis.Plain(post)
		}
		loaded, err := h.shown(ctx, entries)
		if err != nil {
			return more, err
		}
		for i, post := range loaded {
			posts[some[i]] = post
		}
	}
	sendDue(due, posts, version)
	return more, failure
}

// dueCounts are the changed posts of a feed whose events are due.
type dueCounts struct {
	feed  *feed
	posts []retwis.PostID
}

// sendDue sends changed posts to the subscribers of their feeds. A feed may have ten of them for many subscribers, so others have the lock of its partition
// after each post, and the core after some subscribers.
func sendDue(due []dueCounts, posts map[retwis.PostID]*retwis.Post, version int) {
	served := 0
	for _, d := range due {
		for _, id := range d.posts {
			post := posts[id]
			if post == nil {
				continue
			}
			if served += d.feed.sendCount(post, version); served >= recipientBatch {
				served = 0
				netpoll.Yield()
			}
		}
	}
}

// noteChanged adds the newest posts of a feed that have changed to those that wait for their event, and drops those that are no longer among them.
func (f *feed) noteChanged(changed *postSet) {
	if len(f.changed) > 0 {
		f.changed = slices.DeleteFunc(f.changed, func(id retwis.PostID) bool { return !slices.Contains(f.top, id) })
	}
	for _, id := range f.top {
		if changed.has(id) && !slices.Contains(f.changed, id) {
			f.changed = append(f.changed, id)
		}
	}
}

// takeChanged removes and returns the posts whose events are due: as many as a timeline has at once, those that have waited longest.
func (f *feed) takeChanged() []retwis.PostID {
	n := min(len(f.changed), maxEvents)
	due := f.changed[:n:n]
	f.changed = slices.Clone(f.changed[n:])
	return due
}

// eachCounting calls visit for each feed with subscribers that receive changed counts, with the lock of its partition held. Others have the lock and the
// core after some of them.
func (h *Hub) eachCounting(visit func(*feed)) {
	var feeds []*feed
	for _, p := range h.snapshot() {
		p.mu.Lock()
		feeds = slices.AppendSeq(feeds[:0], maps.Values(p.feeds))
		p.mu.Unlock()
		for some := range slices.Chunk(feeds, recipientBatch) {
			p.mu.Lock()
			for _, f := range some {
				if f.sendsCounts() {
					visit(f)
				}
			}
			p.mu.Unlock()
			netpoll.Yield()
		}
	}
}

// readTops reads the newest posts of the feeds that do not know them: those with a first subscriber of changed counts, and those that
// were reset.
func (h *Hub) readTops(ctx context.Context) error {
	var unknown []*feed
	h.eachCounting(func(f *feed) {
		if !f.topKnown {
			unknown = append(unknown, f)
		}
	})
	var failure error
	for some := range slices.Chunk(unknown, topReads) {
		var wg sync.WaitGroup
		tops, errs := make([][]retwis.PostID, len(some)), make([]error, len(some))
		for i, f := range some {
			wg.Go(func() {
				ctx, cancel := h.callContext(ctx)
				defer cancel()
				tops[i], errs[i] = h.source.Newest(ctx, f.timeline, topLength)
			})
		}
		wg.Wait()
		for i, f := range some {
			if errs[i] != nil {
				failure = errs[i]
				continue
			}
			f.setTop(tops[i])
		}
	}
	return failure
}

// setTop sets the newest posts to those that were read, newest first, and adds the posts that have arrived since.
func (f *feed) setTop(read []retwis.PostID) {
	f.partition.mu.Lock()
	defer f.partition.mu.Unlock()
	if f.counting == 0 {
		return
	}
	arrived := f.top
	f.top, f.topKnown = nil, true
	for _, post := range slices.Backward(read) {
		f.addTop(post)
	}
	for _, post := range arrived {
		f.addTop(post)
	}
}

// addTop adds the post of an entry that arrived at the head.
func (f *feed) addTop(post retwis.PostID) {
	if len(f.top) >= topLength {
		f.top = slices.Delete(f.top, 0, 1)
	}
	f.top = append(f.top, post)
}

// sendCount sends a changed post to the subscribers that receive changed counts, unless it was removed meanwhile. It returns how many it has served with the
// lock of the partition, and counts the feed as one of them.
func (f *feed) sendCount(post *retwis.Post, version int) (served int) {
	f.partition.mu.Lock()
	defer f.partition.mu.Unlock()
	if !f.sendsCounts() || f.sentRemoval(post.ID) {
		return 1
	}
	f.subscribers.handOut(outgoing{
		event: &retwis.PostChanged{Cursor: f.position.Cursor(), Post: post, Version: version}, at: f.position, events: 1, counts: true,
	})
	return 1 + len(f.subscribers.first)
}

// sendsCounts reports whether the feed has subscribers that receive changed counts.
func (f *feed) sendsCounts() bool { return f.counting > 0 && f.positioned && !f.ended }
