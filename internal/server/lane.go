package server

import (
	"context"
	"sync"
	"sync/atomic"

	"retwis/internal/retwis"
)

// recipient is the connection's side of a member.
type recipient interface {
	// emit sends an event, without waiting. With more to follow at once, or the end, it may
	// leave the writing to that.
	emit(shared *rendered, cursor retwis.Cursor, more bool)
	// waitForRoom waits until the reader can do with more, or ctx is done.
	waitForRoom(ctx context.Context)
	// failed ends a subscription whose events cannot be rendered.
	failed(error)
	// over is the last call; the reason is nil when the reader wanted it.
	over(reason error)
}

// member is one subscription of a class: the sink between the hub and a connection. What
// the hub tells it waits in a lane of the class to be rendered, in order.
type member struct {
	class   *class
	lane    *lane
	to      recipient
	pending atomic.Int32
}

// enter makes m a member of the class.
func (m *member) enter(c *class, to recipient) {
	m.class, m.to = c, to
	m.lane = c.nextLane()
}

// Take implements [retwis.Sink].
func (m *member) Take(e retwis.Event) bool {
	if m.pending.Add(1) > maxPending {
		return false
	}
	m.class.classes.work(m.lane, entry{to: m, event: e})
	return true
}

// Replay implements [retwis.Sink]. The caller has a goroutine for it, so nobody else
// waits for the rendering.
func (m *member) Replay(ctx context.Context, e retwis.Event) {
	m.to.waitForRoom(ctx)
	if ctx.Err() == nil {
		m.deliver(e)
	}
}

// End implements [retwis.Sink].
func (m *member) End(reason error) {
	m.class.classes.work(m.lane, entry{to: m, reason: reason})
}

func (m *member) deliver(e retwis.Event) {
	shared, err := m.class.render(e)
	m.send(shared, err, e.EventCursor(), false)
}

func (m *member) send(shared *rendered, err error, cursor retwis.Cursor, more bool) {
	if err != nil {
		m.to.failed(err)
		return
	}
	m.class.classes.counts.deliveries.Add(1)
	m.to.emit(shared, cursor, more)
}

// lane is a queue of a class, and while there is something in it a goroutine. Each member
// is in one of them.
type lane struct {
	mu      sync.Mutex
	entries []entry
	running bool

	last lastRendering // of the running goroutine
}

// lastRendering saves looking the same event up for one member after the other.
type lastRendering struct {
	moment moment
	shared *rendered
}

// deliver renders an event for a member, or takes what the one before it was sent. When
// members fall behind, more of their events wait here: those go out by one write.
func (l *lane) deliver(e entry, more bool) {
	m, ok := momentOf(e.event)
	if ok && l.last.shared != nil && l.last.moment == m && !e.to.class.alone {
		e.to.send(l.last.shared, nil, e.event.EventCursor(), more)
		return
	}
	shared, err := e.to.class.render(e.event)
	l.last = lastRendering{m, shared}
	e.to.send(shared, err, e.event.EventCursor(), more)
}

// entry is an event for a member; without one, its end.
type entry struct {
	to     *member
	event  retwis.Event
	reason error
}

func (r *classes) work(l *lane, e entry) {
	l.mu.Lock()
	l.entries = append(l.entries, e)
	start := !l.running
	l.running = true
	l.mu.Unlock()
	if start {
		go l.run()
	}
}

func (l *lane) run() {
	var done []entry
	for {
		l.mu.Lock()
		entries := l.entries
		if len(entries) == 0 {
			l.running, l.last = false, lastRendering{}
			l.mu.Unlock()
			return
		}
		l.entries = done[:0] // the two take turns
		l.mu.Unlock()
		for i, e := range entries {
			if e.event != nil {
				l.deliver(e, e.to.pending.Add(-1) > 0)
			} else {
				e.to.class.leave()
				e.to.to.over(e.reason)
			}
			entries[i] = entry{}
		}
		done = entries
		if cap(done) > keptEntries {
			done = nil
		}
	}
}

// keptEntries is the longest queue that is used again.
const keptEntries = 4096
