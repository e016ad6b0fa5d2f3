package broadcast

import (
	"context"
	"sync"
	"time"

	"retwis/internal/retwis"
)

// Bounds of the render cache. It keeps events only briefly: the name of a post's author
// may change.
const (
	cacheTTL      = 2 * time.Second
	maxCached     = 8192
	maxCacheBytes = 32 << 20
)

// content identifies what happened, in whichever timeline: an event without its cursor.
type content struct {
	kind   byte
	post   retwis.PostID // or repost
	number int
	reason retwis.ResetReason
	marker retwis.Cursor // which names its timeline
}

func contentOf(e retwis.Event) (content, bool) {
	switch e := e.(type) {
	case *retwis.PostAdded:
		return content{kind: '+', post: e.Edge.EntryID()}, true
	case *retwis.PostRemoved:
		return content{kind: '-', post: e.PostID}, true
	case *retwis.PostChanged:
		return content{kind: 'c', post: e.Post.ID, number: e.Version}, true
	case *retwis.CaughtUp:
		return content{kind: '=', number: e.Replayed, marker: markerOf(e.Marker)}, true
	case *retwis.MarkerMoved:
		return content{kind: 'm', marker: markerOf(e.Marker)}, e.Marker != nil
	case *retwis.Advanced:
		return content{kind: '>'}, true
	case *retwis.Reset:
		return content{kind: '!', reason: e.Reason}, true
	default:
		return content{}, false
	}
}

func markerOf(marker *retwis.Cursor) retwis.Cursor {
	if marker == nil {
		return ""
	}
	return *marker
}

type cacheKey struct {
	group *group
	content
}

// cache is the render cache. It holds events that were rendered recently or are being
// rendered; a second request for one of the latter waits for it.
type cache struct {
	mu    sync.Mutex
	known map[cacheKey]*cacheEntry
	queue []*cacheEntry // rendered, oldest first
	bytes int           // of those in the queue
	sweep *time.Timer   // set while the queue is not empty
}

type cacheEntry struct {
	key        cacheKey
	done       chan struct{} // closed when result and err are set
	result     *Rendered
	err        error
	renderedAt time.Time
}

// get returns the cached result, or else that of render. It fails with errLeft if ctx is done before another request has rendered it.
func (c *cache) get(ctx context.Context, key cacheKey, render func() (*Rendered, error)) (*Rendered, error) {
	c.mu.Lock()
	if known := c.known[key]; known != nil {
		c.mu.Unlock()
		select {
		case <-known.done:
			return known.result, known.err
		case <-ctx.Done():
			return nil, errLeft
		}
	}
	if c.known == nil {
		c.known = map[cacheKey]*cacheEntry{}
	}
	made := &cacheEntry{key: key, done: make(chan struct{})}
	c.known[key] = made
	c.mu.Unlock()

	made.result, made.err = render()

	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(made.done) // after a failure was forgotten: those who waited may try again
	if made.err != nil {
		delete(c.known, key)
		return nil, made.err
	}
	made.renderedAt = time.Now()
	c.queue = append(c.queue, made)
	c.bytes += made.result.size
	c.evictLocked(made.renderedAt)
	return made.result, nil
}

// evictLocked drops expired entries, and the oldest ones beyond the bounds.
func (c *cache) evictLocked(now time.Time) {
	for len(c.queue) > 0 {
		oldest := c.queue[0]
		if len(c.queue) <= maxCached && c.bytes <= maxCacheBytes && now.Sub(oldest.renderedAt) < cacheTTL {
			break
		}
		c.queue[0] = nil
		c.queue = c.queue[1:]
		c.bytes -= oldest.result.size
		delete(c.known, oldest.key)
	}
	switch {
	case len(c.queue) == 0:
		c.queue = nil
	case c.sweep == nil:
		c.sweep = time.AfterFunc(cacheTTL, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.sweep = nil
			c.evictLocked(time.Now())
		})
	}
}
