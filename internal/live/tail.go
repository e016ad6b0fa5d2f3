package live

import (
	"context"
	"sync"

	"retwis/internal/cost"
	"retwis/internal/netpoll"
	"retwis/internal/ratelimit"
)

// tailBatch is how many members are visited before the core is left to others.
const tailBatch = 32

// tail has those subscribers of a feed whose network has many others. The feed hands each event to the first subscribers of each network and
// goes on; the tail of a network hands it to its members in a goroutine of its own, without the lock of the partition. So the events of other networks, and
// of other timelines, do not wait until thousands of subscribers have this one. Tails take turns with those that write the events: see
// [cost.Shares.HandOver].
type tail struct {
	hub     *Hub
	network ratelimit.Client // of the members

	mu      sync.Mutex
	members []*subscription
	queue   []queuedVisit     // to all members, in order
	account cost.EventAccount // of the queue; a network may have thousands of tails
	next    int               // number of the first visit in the queue
	running bool              // a goroutine makes the visits
}

// queuedVisit is a visit that waits in the queue of a tail.
type queuedVisit struct {
	visit  func(*subscription)
	events int // for which the first member that pays is charged, also if the visit is dropped
}

// add makes s a member from the next visit on.
func (t *tail) add(s *subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.tail, s.nextVisit, s.index = t, t.next+len(t.queue), len(t.members)
	t.members = append(t.members, s)
}

// remove removes a member. A visit to it may be under way.
func (t *tail) remove(s *subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members = removeAt(t.members, s.index)
}

// visit queues a visit to the members, of which the first one that pays is charged for a number of events. If too many are queued, here or for all
// tails of the network, the members are slow consumers.
func (t *tail) visit(visit func(*subscription), events int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.members) == 0 {
		return
	}
	next := queuedVisit{visit, events}
	if len(t.queue) >= t.hub.options.QueueLength || !t.account.Grow(t.hub.options.Shares.Events, t.network, (len(t.queue)+1)*cost.EventBytes) {
		next = t.dropLocked(events)
	}
	t.queue = append(t.queue, next)
	if !t.running {
		t.running = true
		t.hub.wg.Go(t.run)
	}
}

// dropLocked drops the queue, and one more visit for which some events are due. It returns the visit that ends the members. The price of what was dropped
// is still due: the messages of these events were received.
func (t *tail) dropLocked(events int) queuedVisit {
	for _, dropped := range t.queue {
		events += dropped.events
	}
	t.next += len(t.queue)
	t.queue = nil
	t.account.Shrink(0)
	unpaid := events
	return queuedVisit{func(s *subscription) {
		if unpaid > 0 && s.pay(unpaid) {
			unpaid = 0
		}
		s.disconnectSlow()
	}, events}
}

// run makes the visits until the queue is empty.
func (t *tail) run() {
	var batch [tailBatch]*subscription
	for visit, number := t.nextVisit(); visit != nil; visit, number = t.nextVisit() {
		for rest := t.len(); rest > 0; {
			var n int
			n, rest = t.last(rest, batch[:])
			turn, _ := t.hub.options.Shares.HandOver(context.Background(), t.network) // turns are short
			for _, s := range batch[:n] {
				if s.nextVisit <= number {
					s.nextVisit = number + 1
					visit(s)
				}
			}
			turn.End()
			clear(batch[:n])
			netpoll.Yield()
		}
	}
}

// nextVisit removes and returns the first visit of the queue, with its number. It returns nil if there is none; the calling goroutine must then exit.
func (t *tail) nextVisit() (func(*subscription), int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.queue, t.running = nil, false
		return nil, 0
	}
	visit := t.queue[0].visit
	t.queue[0] = queuedVisit{}
	t.queue = t.queue[1:]
	t.account.Shrink(len(t.queue) * cost.EventBytes)
	t.next++
	return visit, t.next - 1
}

// last copies the last ones of the first rest members, as many as fit. It returns how many these are, and how many are before them. The place of a member
// that leaves is taken by the last one. So those that come from the end to the start miss no member, and may find one again.
func (t *tail) last(rest int, batch []*subscription) (n, before int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest = min(rest, len(t.members))
	n = copy(batch, t.members[max(0, rest-len(batch)):rest])
	return n, rest - n
}

// all yields the members until yield returns false, which it then returns, too. It holds the lock meanwhile.
func (t *tail) all(yield func(*subscription) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.members {
		if !yield(s) {
			return false
		}
	}
	return true
}

func (t *tail) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.members)
}

// removeAt removes a subscription from a list in which each knows its index. The last one takes its place.
func removeAt(list []*subscription, index int) []*subscription {
	last := len(list) - 1
	list[index] = list[last]
	list[index].index = index
	list[last] = nil
	return list[:last]
}
