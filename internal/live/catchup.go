package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"retwis/internal/cost"
	"retwis/internal/pubsub"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// ofNetwork is the part of the goroutines that one network may have.
const ofNetwork = 8

// catchUpQueue queues the feeds that have to catch up. It holds a feed at most once, since a
// queued feed is busy. Up to limit goroutines process the queue; they exit when it is empty.
// Networks take turns, and one has an eighth of the goroutines at most: its subscribers may watch
// thousands of timelines that change at once, and Redis would hardly do anything else. It rests afterwards beside other networks: the goroutine that
// processed its feed is for others then. Feeds of several networks take turns like one.
type catchUpQueue struct {
	mu      sync.Mutex
	start   func() // starts a goroutine; nil unless the hub runs
	limit   int
	running int                   // goroutines
	busy    map[ratelimit.Key]int // those that process a feed of a network, and those for which it rests
	waiting map[ratelimit.Key][]*feed
	turns   []ratelimit.Key // the networks of waiting
}

// add queues a feed. The caller holds the lock of its partition.
func (w *catchUpQueue) add(f *feed) {
	network := cost.NetworkOf(f.client())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start != nil {
		w.addLocked(network, f)
	}
}

func (w *catchUpQueue) addLocked(network ratelimit.Key, f *feed) {
	if w.waiting[network] = append(w.waiting[network], f); len(w.waiting[network]) == 1 {
		w.turns = append(w.turns, network)
	}
	w.startLocked()
}

func (w *catchUpQueue) startLocked() {
	if w.running < w.limit {
		w.running++
		w.start()
	}
}

// hurry moves a feed, if it is queued, to those of several networks: it may be behind thousands of a network, and a subscriber of another one waits for it.
func (w *catchUpQueue) hurry(f *feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for network, feeds := range w.waiting {
		i := slices.Index(feeds, f)
		if i < 0 {
			continue
		}
		if w.waiting[network] = slices.Delete(feeds, i, i+1); len(feeds) == 1 {
			delete(w.waiting, network)
			w.turns = slices.DeleteFunc(w.turns, func(other ratelimit.Key) bool { return other == network })
		}
		w.addLocked(cost.NetworkOf(cost.ForSeveral()), f)
		return
	}
}

// next removes and returns the next feed, with the network to call done with afterwards. It returns
// nil if there is none; the calling goroutine must then exit.
func (w *catchUpQueue) next() (*feed, ratelimit.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, network := range w.turns {
		if w.busy[network] >= max(1, w.limit/ofNetwork) {
			continue // those call next, too
		}
		feeds := w.waiting[network]
		w.turns = slices.Delete(w.turns, i, i+1)
		if len(feeds) > 1 {
			w.waiting[network] = feeds[1:]
			w.turns = append(w.turns, network)
		} else {
			delete(w.waiting, network)
		}
		w.busy[network]++
		return feeds[0], network
	}
	w.running--
	return nil, ratelimit.Key{}
}

// done notes that a feed of a network was processed. The network has to rest before its next one.
func (w *catchUpQueue) done(network ratelimit.Key, rest time.Duration) {
	if rest > 0 {
		time.AfterFunc(rest, func() { w.done(network, 0) })
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[network]--; w.busy[network] == 0 {
		delete(w.busy, network)
	}
	if w.start != nil && len(w.waiting[network]) > 0 {
		w.startLocked()
	}
}

// open makes the queue start goroutines with start. A nil start closes the queue, which then
// discards its feeds.
func (w *catchUpQueue) open(start func(), limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start, w.limit = start, limit
	w.waiting, w.turns = map[ratelimit.Key][]*feed{}, nil
	if w.busy == nil {
		w.busy = map[ratelimit.Key]int{}
	}
}

// runCatchUps lets queued feeds catch up until the queue is empty.
func (h *Hub) runCatchUps(ctx context.Context) {
	for f, network := h.queue.next(); f != nil; f, network = h.queue.next() {
		rest, err := f.catchUp(ctx)
		h.queue.done(network, rest)
		if ctx.Err() != nil {
			continue
		}
		if err != nil {
			h.log.WarnContext(ctx, "live: catch-up failed, retrying", "timeline", f.timeline, "err", err)
		}
		f.partition.catchUpDone(f, err)
	}
}

// catchUp reads the events after the feed's position from the list and sends them to the
// subscribers. After an error the feed keeps the position that it reached and stays busy
// until a retry succeeds. catchUp returns for how long the network of its client has to rest.
func (f *feed) catchUp(ctx context.Context) (rest time.Duration, err error) {
	h, p := f.partition.hub, f.partition

	p.mu.Lock()
	if f.dropped {
		p.mu.Unlock()
		return 0, nil
	}
	from, sent, verify, behind, changeAt := f.position, f.sent(), f.verify, f.behind, f.changeAt
	compareAll, viewers := f.compareFilters, f.late
	if compareAll {
		viewers = f.viewers()
		f.comparisons++
	}
	client := f.client()
	meter, forgiven := h.meter(client), 0
	defer func() { rest = meter.Rest() }()
	reading := cost.With(ctx, meter)
	if f.checking && !f.due {
		forgiven = cost.RegularCheck
		ctx = cost.With(ctx, h.meter(client)) // the comparison of filters is free: it is for all viewers
	} else {
		ctx = reading
	}
	if f.due || f.checking {
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			f.pay(meter.Close().Work.Points(), forgiven)
		}()
	}
	// The read covers all messages received before it. Their loaded posts are still useful.
	known := f.held
	f.held, f.late, f.readAgain, f.verify, f.compareFilters, f.due, f.checking, f.behind = nil, nil, false, false, false, false, false, false
	p.mu.Unlock()

	h.counts.catchUps.Add(1)
	var events pubsub.Replay
	reason := retwis.CursorTooOld
	if behind {
		events, err = h.readPosition(reading, f.timeline)
	}
	if !behind || err != nil {
		events, reason, err = h.readAfter(reading, from, sent, verify)
	}
	filters := map[retwis.UserID]int64{}
	if err == nil {
		filters, err = h.readFilters(ctx, viewers)
	}
	if err != nil {
		f.retryComparisons(verify, compareAll, viewers)
		return 0, fmt.Errorf("read the events of timeline %s: %w", f.timeline, err)
	}
	if events.Gone {
		p.mu.Lock()
		defer p.mu.Unlock()
		f.endSubscriptions()
		f.endBusy()
		return 0, nil
	}
	if reason != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		f.marker = events.Marker // the subscribers read it with the timeline
		f.reset(events.Position, reason)
		f.resetFiltered(filters)
		f.endBusy()
		return 0, nil
	}
	for arrived := range slices.Chunk(events.Arrived, postBatch) {
		posts, err := h.loadPosts(ctx, known, changeAt, arrived)
		if err != nil {
			f.retryComparisons(false, compareAll, viewers)
			return 0, fmt.Errorf("load the posts of timeline %s: %w", f.timeline, err)
		}
		p.mu.Lock()
		for i, e := range arrived {
			f.advance(e, posts[i])
		}
		p.mu.Unlock()
	}
	for removed := range slices.Chunk(events.Removed, removalBatch) {
		p.mu.Lock()
		f.sendRemovals(removed)
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.finishCatchUp(events.Position)
	f.sendMarker(events.Marker)
	f.resetFiltered(filters)
	f.endBusy()
	return 0, nil
}

// removalBatch is the number of removals that a catch-up sends at once. Other feeds of the partition wait meanwhile.
const removalBatch = 100

// retryComparisons lets the next catch-up compare what a failed one did not: with the list, and the filter epochs of all viewers or of some.
func (f *feed) retryComparisons(verify, compareAll bool, viewers []retwis.UserID) {
	f.partition.mu.Lock()
	defer f.partition.mu.Unlock()
	f.verify, f.compareFilters = f.verify || verify, f.compareFilters || compareAll
	if !compareAll {
		f.late = append(f.late, viewers...)
	}
}

// readAfter reads the events after a position, and returns why they are unrecoverable if they are. sent holds the entries up to the
// position that were sent last. A master that failed may have published some of them that its successor received in another order, or
// not at all. If the read finds new entries, it may be the first one from the successor. Then, and with verify, readAfter
// compares at least half of those sent that the list still holds.
func (h *Hub) readAfter(
	ctx context.Context, at retwis.TimelinePosition, sent []pubsub.Arrival, verify bool,
) (pubsub.Replay, retwis.ResetReason, error) {
	if !verify || len(sent) < 2 {
		events, err := h.readSince(ctx, at)
		if err != nil || len(sent) < 2 || len(events.Arrived) == 0 {
			return events, resetReason(at, events), err
		}
	}
	for {
		from := at
		from.Element, from.Older = sent[0].Element, [retwis.CursorReserve]retwis.Element{}
		events, err := h.readSince(ctx, from)
		if err == nil && !events.Found && !events.Gone && len(sent) > 1 {
			sent = sent[len(sent)/2:] // the list was trimmed: compare fewer entries
			continue
		}
		reason := resetReason(from, events)
		if err != nil || events.Gone || reason != "" {
			return events, reason, err
		}
		again := len(sent) - 1
		if len(events.Arrived) < again || !agree(events.Arrived[:again], sent[1:]) {
			return events, retwis.HistoryChanged, nil
		}
		events.Arrived = events.Arrived[again:]
		return events, "", nil
	}
}

// agree reports whether two excerpts of a list with the same last entry are the same, as far as both reach back.
func agree(a, b []pubsub.Arrival) bool {
	n := min(len(a), len(b))
	same := func(a, b pubsub.Arrival) bool { return a.Element == b.Element }
	return slices.EqualFunc(a[len(a)-n:], b[len(b)-n:], same)
}

// pay charges a subscriber for the work of a catch-up. A repost can cause one for each follower and list, and a regular check is made as
// long as there are subscribers, and reads all removals of the partition. So these must not be free for a client that subscribes to many
// timelines. The subscription of a client without budget ends, unless the work took no more than the forgiven points and can still be counted;
// the next one pays then. The caller holds the lock of the partition.
func (f *feed) pay(points, forgiven int) {
	if points <= 0 {
		return
	}
	for s := range f.subscribers.all() {
		if s.charge == nil || s.ctx.Err() != nil {
			continue
		}
		if err := s.charge(points); err != nil && (points > forgiven || errors.Is(err, ratelimit.ErrMaxDebt)) {
			s.end(err)
		}
		return
	}
}

// loadPosts returns the posts that entries show. It takes them from known messages and from recent posts that were read after a time where
// possible, and loads the others. A deleted post is nil, and so is that of a hidden entry and of a repost that was undone.
func (h *Hub) loadPosts(ctx context.Context, known []message, after time.Time, entries []pubsub.Arrival) ([]*retwis.Post, error) {
	posts := make([]*retwis.Post, len(entries))
	var missing []retwis.Element
	var indexes []int
	for i, e := range entries {
		if e.Hidden {
			continue
		}
		m := slices.IndexFunc(known, func(m message) bool { return m.kind == pubsub.Pushed && m.element == e.Element && !m.hidden })
		if m >= 0 {
			posts[i] = known[m].body
			continue
		}
		if post, ok := h.recent.find(e.Element, after); ok {
			posts[i] = post
			continue
		}
		missing, indexes = append(missing, e.Element), append(indexes, i)
	}
	loaded, err := h.shown(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, post := range loaded {
		posts[indexes[i]] = post
	}
	return posts, nil
}
