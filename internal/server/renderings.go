package server

import (
	"sync"
	"time"

	"retwis/internal/retwis"
)

// Bounds of what is kept for those who are sent the same a moment later. It must be soon:
// a post's author may change their name.
const (
	renderingTTL   = 2 * time.Second
	maxRenderings  = 8192
	renderingBytes = 32 << 20
)

// moment is what happened, wherever it did: an event without its cursor.
type moment struct {
	kind   byte
	post   retwis.PostID
	number int
	reason retwis.ResetReason
}

func momentOf(e retwis.Event) (moment, bool) {
	switch e := e.(type) {
	case *retwis.PostAdded:
		return moment{kind: '+', post: e.Edge.Post.ID}, true
	case *retwis.PostRemoved:
		return moment{kind: '-', post: e.PostID}, true
	case *retwis.CaughtUp:
		return moment{kind: '=', number: e.Replayed}, true
	case *retwis.Advanced:
		return moment{kind: '>'}, true
	case *retwis.Reset:
		return moment{kind: '!', reason: e.Reason}, true
	default:
		return moment{}, false
	}
}

type renderKey struct {
	class *class
	moment
}

// renderings are events that were rendered just now, or are being rendered: who wants the
// same meanwhile waits for it.
type renderings struct {
	mu    sync.Mutex
	known map[renderKey]*rendering
	queue []*rendering // oldest first
	bytes int          // of those in the queue
	sweep *time.Timer  // set while the queue is not empty
}

type rendering struct {
	key    renderKey
	done   chan struct{} // closed when result and err are there
	result *rendered
	err    error
	since  time.Time
}

// get returns what render returns, now or a moment ago.
func (r *renderings) get(key renderKey, render func() (*rendered, error)) (*rendered, error) {
	r.mu.Lock()
	if known := r.known[key]; known != nil {
		r.mu.Unlock()
		<-known.done
		return known.result, known.err
	}
	if r.known == nil {
		r.known = map[renderKey]*rendering{}
	}
	made := &rendering{key: key, done: make(chan struct{})}
	r.known[key] = made
	r.mu.Unlock()

	made.result, made.err = render()
	close(made.done)

	r.mu.Lock()
	defer r.mu.Unlock()
	if made.err != nil {
		delete(r.known, key)
		return nil, made.err
	}
	made.since = time.Now()
	r.queue = append(r.queue, made)
	r.bytes += made.result.size
	r.forgetLocked(made.since)
	return made.result, nil
}

// forgetLocked drops what is too old, or too much.
func (r *renderings) forgetLocked(now time.Time) {
	for len(r.queue) > 0 {
		oldest := r.queue[0]
		if len(r.queue) <= maxRenderings && r.bytes <= renderingBytes && now.Sub(oldest.since) < renderingTTL {
			break
		}
		r.queue[0] = nil
		r.queue = r.queue[1:]
		r.bytes -= oldest.result.size
		delete(r.known, oldest.key)
	}
	switch {
	case len(r.queue) == 0:
		r.queue = nil
	case r.sweep == nil:
		r.sweep = time.AfterFunc(renderingTTL, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.sweep = nil
			r.forgetLocked(time.Now())
		})
	}
}
