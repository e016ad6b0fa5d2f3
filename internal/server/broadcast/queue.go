package broadcast

import (
	"sync"

	"retwis/internal/cost"
	"retwis/internal/netpoll"
	"retwis/internal/retwis"
)

const (
	turnEvents  = 32 // events that a network may send before the next network has its turn, and a group before the next group
	maxBatch    = 64 // events that are taken from the lanes at once
	maxKeptLine = 4  // capacity of the largest slice that an empty line keeps: most lanes have one event at a time
)

// queue is a render queue of a group: ordered events, and a goroutine while there are any. Each member uses one of the group's
// queues. Networks take turns, and so do the clients of a network, so that one with many subscriptions does not delay the others. A network with
// many members has queues of its own, beside its share of the others, so that others do not wait while it has no turn to send.
type queue struct {
	ofNetwork bool // all members are of one network

	mu       sync.Mutex
	networks line[*network] // those with events
	running  bool

	// The running goroutine has these.

	turn *cost.Turn // to send: see [group.takeTurn]; nil without one
	sent int        // events since others could run

	// rendered saves the look-up of the same event for the next member.
	rendered struct {
		content content
		event   *Rendered
	}
}

// network holds the lanes with events of the clients of one network.
type network struct{ lanes line[*lane] }

// lane holds the events that wait for the members of one client.
type lane struct {
	line[queued]

	account cost.EventAccount
}

// line holds what waits for its turn, in order.
type line[T any] struct{ waiting []T }

func (l *line[T]) add(one T) { l.waiting = append(l.waiting, one) }

// drop removes the first n.
func (l *line[T]) drop(n int) {
	clear(l.waiting[:n])
	switch {
	case n < len(l.waiting):
		l.waiting = l.waiting[n:]
	case cap(l.waiting) <= maxKeptLine:
		l.waiting = l.waiting[:0]
	default:
		l.waiting = nil
	}
}

// next removes and returns the first one. There must be one.
func (l *line[T]) next() T {
	one := l.waiting[0]
	l.drop(1)
	return one
}

// queued is an event for a member. Without an event it is the end of the subscription.
type queued struct {
	to    *Member
	event retwis.Event
}

func newQueues(n int, ofNetwork bool) []queue {
	queues := make([]queue, n)
	for i := range queues {
		queues[i].ofNetwork = ofNetwork
	}
	return queues
}

// push queues an event or an end. It reports false, and does nothing, if too many events of the client, its network or all wait. Ends are always queued.
func (q *queue) push(e queued) bool {
	q.mu.Lock()
	l := e.to.lane
	if e.event != nil && !l.account.Grow(e.to.group.groups.shares.Events, e.to.client, (len(l.waiting)+1)*cost.EventBytes) {
		q.mu.Unlock()
		return false
	}
	if l.add(e); len(l.waiting) == 1 {
		q.enterLocked(e.to.network, l)
	}
	start := !q.running
	q.running = true
	q.mu.Unlock()
	if start {
		go q.run()
	}
	return true
}

// enterLocked makes a lane the last one of its network to have a turn.
func (q *queue) enterLocked(n *network, l *lane) {
	if n.lanes.add(l); len(n.lanes.waiting) == 1 {
		q.networks.add(n)
	}
}

// run empties the queue.
func (q *queue) run() {
	var batch []queued
	for {
		batch = q.take(batch[:0])
		if len(batch) == 0 {
			return
		}
		for i, e := range batch {
			if i%turnEvents == 0 {
				q.pause()
			}
			if e.event != nil {
				q.deliver(e, e.to.pending.Add(-1) > 0)
			} else {
				q.enter(e.to)
				e.to.ended()
			}
			batch[i] = queued{}
		}
		q.pause()
	}
}

// pause leaves the turn to others. A queue of one network keeps it for a while: other networks do not wait for it, but its own may have many operations
// that do, each of which has a turn before the queue has the next one.
func (q *queue) pause() {
	if q.ofNetwork && q.turn.Recent() {
		q.yield()
		return
	}
	q.leave()
}

// take removes events for some turns and appends them to a batch. If there are none, the goroutine has to end.
func (q *queue) take(batch []queued) []queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.networks.waiting) > 0 && len(batch) < maxBatch {
		of := q.networks.next()
		for room := turnEvents; room > 0 && len(of.lanes.waiting) > 0; {
			l := of.lanes.next()
			n := min(len(l.waiting), room)
			batch = append(batch, l.waiting[:n]...)
			room -= n
			if l.drop(n); len(l.waiting) > 0 {
				of.lanes.add(l)
			}
			l.account.Shrink(len(l.waiting) * cost.EventBytes)
		}
		if len(of.lanes.waiting) > 0 {
			q.networks.add(of)
		}
	}
	if len(batch) == 0 {
		q.turn.End()
		q.turn, q.running = nil, false
		q.rendered.content, q.rendered.event = content{}, nil
	}
	return batch
}

// deliver renders an event for a member, or uses the bytes of the one before. When members
// fall behind, more of their events wait here; one write then sends them together.
func (q *queue) deliver(e queued, more bool) {
	if e.to.limited.Load() != nil {
		return // it resumes after the last event that it got
	}
	q.sent++
	q.enter(e.to) // filters take time, too
	if e.event = e.to.filtered(e.event); e.event == nil {
		return
	}
	more = more && e.to.filter == nil // which may suppress the others
	what, ok := contentOf(e.event)
	var err error
	if !ok || q.rendered.event == nil || q.rendered.content != what {
		q.leave() // rendering has shares of its own
		q.rendered.content = what
		q.rendered.event, err = e.to.group.render(e.to.group.groups.ctx, e.event, e.to.client)
		q.enter(e.to)
	}
	e.to.send(q.rendered.event, err, e.event.EventCursor(), more)
}

// enter takes a turn for a member, unless the queue has one.
func (q *queue) enter(m *Member) {
	if q.turn == nil {
		q.turn = m.group.takeTurn(q, m.client)
	}
}

// leave ends the turn to send. If nobody waits for a turn, others have the core nevertheless.
func (q *queue) leave() {
	q.turn.End()
	q.turn = nil
	q.yield()
}

// yield leaves the core to others after as many events as a turn has.
func (q *queue) yield() {
	if q.sent >= turnEvents {
		q.sent = 0
		netpoll.Yield()
	}
}
