package broadcast

import (
	"sync"

	"retwis/internal/retwis"
)

// maxKeptQueue is the length of the longest slice that a render queue uses again.
const maxKeptQueue = 4096

// queue is a render queue of a group: ordered events, and a goroutine while there are any.
// Each member uses one of the group's queues.
type queue struct {
	mu      sync.Mutex
	waiting []queued
	running bool

	last struct { // of the running goroutine: saves the look-up of the same event for the next member
		content  content
		rendered *Rendered
	}
}

// queued is an event for a member. Without an event it is the end of the subscription.
type queued struct {
	to     *Member
	event  retwis.Event
	reason error
}

func (q *queue) push(e queued) {
	q.mu.Lock()
	q.waiting = append(q.waiting, e)
	start := !q.running
	q.running = true
	q.mu.Unlock()
	if start {
		go q.run()
	}
}

// run empties the queue.
func (q *queue) run() {
	var spare []queued
	for {
		q.mu.Lock()
		batch := q.waiting
		if len(batch) == 0 {
			q.running = false
			q.last.content, q.last.rendered = content{}, nil
			q.mu.Unlock()
			return
		}
		q.waiting = spare[:0] // the two slices take turns
		q.mu.Unlock()
		for i, e := range batch {
			if e.event != nil {
				q.deliver(e, e.to.pending.Add(-1) > 0)
			} else {
				e.to.ended(e.reason)
			}
			batch[i] = queued{}
		}
		spare = batch
		if cap(spare) > maxKeptQueue {
			spare = nil
		}
	}
}

// deliver renders an event for a member, or uses the bytes of the one before. When members
// fall behind, more of their events wait here; one write then sends them together.
func (q *queue) deliver(e queued, more bool) {
	if e.to.limited.Load() != nil {
		return // it resumes after the last event that it got
	}
	what, ok := contentOf(e.event)
	if ok && q.last.rendered != nil && q.last.content == what && !e.to.group.private {
		e.to.send(q.last.rendered, nil, e.event.EventCursor(), more)
		return
	}
	rendered, err := e.to.group.render(e.event, e.to.client)
	q.last.content, q.last.rendered = what, rendered
	e.to.send(rendered, err, e.event.EventCursor(), more)
}
