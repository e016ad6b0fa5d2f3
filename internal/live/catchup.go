package live

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"retwis/internal/retwis"
)

// catchUpQueue is the queue of feeds to read for. A feed is in it at most once, because it is
// busy from then on. The goroutines that catchUpQueue it off, a bounded number, are
// there while there is catchUpQueue.
type catchUpQueue struct {
	mu      sync.Mutex
	start   func() // starts one more of them; nil before and after the hub runs
	limit   int
	running int
	queue   []*feed
}

func (w *catchUpQueue) add(f *feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start == nil {
		return
	}
	w.queue = append(w.queue, f)
	if w.running < w.limit {
		w.running++
		w.start()
	}
}

// next takes the first feed. Without one the calling goroutine counts as ended.
func (w *catchUpQueue) next() *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.start == nil {
		w.queue = nil
		w.running--
		return nil
	}
	f := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	return f
}

// open lets goroutines be started by start; nil drops what is queued.
func (w *catchUpQueue) open(start func(), limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start, w.limit = start, limit
}

// runCatchUps reads for feeds until none is queued.
func (h *Hub) runCatchUps(ctx context.Context) {
	for f := h.queue.next(); f != nil; f = h.queue.next() {
		err := f.catchUp(ctx)
		if ctx.Err() != nil {
			continue
		}
		if err != nil {
			h.log.WarnContext(ctx, "a live feed could not be brought up to date", "timeline", f.timeline, "err", err)
		}
		f.partition.catchUpDone(f, err)
	}
}

// catchUp tells what the feed's subscribers have missed, as the list has it. After an
// error the feed stays busy, at the place it got to.
func (f *feed) catchUp(ctx context.Context) error {
	h, p := f.partition.hub, f.partition

	p.mu.Lock()
	if f.dropped {
		p.mu.Unlock()
		return nil
	}
	from := f.position
	// Messages from before the read have nothing to add to it, except loaded posts.
	known := f.held
	f.held, f.readAgain = nil, false
	p.mu.Unlock()

	h.counts.catchUps.Add(1)
	news, err := h.readSince(ctx, from)
	if err != nil {
		return fmt.Errorf("reading what is new on timeline %s: %w", f.timeline, err)
	}
	if news.Gone {
		p.mu.Lock()
		defer p.mu.Unlock()
		f.endSubscriptions()
		f.endBusy()
		return nil
	}
	if reason := resetReason(from, news); reason != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		f.reset(news.Position, reason)
		f.endBusy()
		return nil
	}
	for ids := range slices.Chunk(news.Arrived, postBatch) {
		posts, err := h.loadPosts(ctx, known, ids)
		if err != nil {
			return fmt.Errorf("loading posts of timeline %s: %w", f.timeline, err)
		}
		p.mu.Lock()
		for i, id := range ids {
			f.advance(id, posts[i])
		}
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.finishCatchUp(news.Position, news.Removed)
	f.endBusy()
	return nil
}

// loadPosts loads those posts that did not come with a message.
func (h *Hub) loadPosts(ctx context.Context, known []message, ids []retwis.PostID) ([]*retwis.Post, error) {
	posts := make([]*retwis.Post, len(ids))
	var missing []retwis.PostID
	var places []int
	for i, id := range ids {
		m := slices.IndexFunc(known, func(m message) bool { return m.kind == retwis.LivePushed && m.post == id })
		if m >= 0 {
			posts[i] = known[m].body
			continue
		}
		missing, places = append(missing, id), append(places, i)
	}
	loaded, err := h.posts(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, post := range loaded {
		posts[places[i]] = post
	}
	return posts, nil
}
