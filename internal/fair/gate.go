// Package fair shares a resource between holders, so that one that asks for much does not delay the others.
package fair

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"retwis/internal/netpoll"
)

// Gate bounds how much of a resource is in use: by all holders together, and by each. Waiting holders take turns, however
// much each of them asks for. A holder serves the requests of its parts by what these have used, as start-time fair queueing does
// (Goyal, Vin and Cheng, 1996): that of a part which has used less goes first. Its methods are safe for concurrent use.
type Gate[K comparable] struct {
	capacity, share int
	unbounded       bool // the capacity has no bound: holders do not wait for each other

	mu      sync.Mutex
	used    int
	holders map[K]*holder[K]
	waiting []*holder[K] // if there is a capacity: holders that wait, in the order of their turns
}

// partsKept is the number of parts of a holder from which those are forgotten that wait for no other.
const partsKept = 1024

// holder is one with a part of the resource, or that waits for it.
type holder[K comparable] struct {
	used    int
	queue   []*request // in the order of their starts, equal ones by age; the first one is not given up
	givenUp int        // of the queue
	now     int        // start of the last request that was granted
	work    map[K]int  // of parts; those that are not ahead of now may be left out
	prunes  int        // number of parts in work from which those are looked for; most may be ahead
}

type request struct {
	n       int
	start   int // what its part has used, but at least what was the holder's now
	granted chan struct{}
	givenUp bool
}

// insert adds a request to the queue. It reports whether it is the first one.
func (h *holder[K]) insert(r *request) bool {
	i, _ := slices.BinarySearchFunc(h.queue, r.start, func(other *request, start int) int {
		return cmp.Or(cmp.Compare(other.start, start), -1) // behind those with the same start
	})
	h.queue = slices.Insert(h.queue, i, r)
	return i == 0
}

// tidy removes the first requests that are given up, or all of these once they are half of the queue. So giving up a long queue takes a time
// that is proportional to its length.
func (h *holder[K]) tidy() {
	if h.givenUp > len(h.queue)/2 {
		h.queue, h.givenUp = slices.DeleteFunc(h.queue, func(r *request) bool { return r.givenUp }), 0
	}
	for len(h.queue) > 0 && h.queue[0].givenUp {
		h.queue[0] = nil
		h.queue = h.queue[1:]
		h.givenUp--
	}
}

// NewGate returns a gate of a capacity, of which one holder may use a share.
func NewGate[K comparable](capacity, share int) *Gate[K] {
	return &Gate[K]{capacity: capacity, share: min(share, capacity), unbounded: capacity == math.MaxInt, holders: map[K]*holder[K]{}}
}

// Acquire waits until the holder may use n more, and counts that. A request for more than the share counts as the share.
// It fails if ctx is done.
func (g *Gate[K]) Acquire(ctx context.Context, key K, n int) error {
	return g.AcquireFor(ctx, key, key, n)
}

// AcquireFor is like Acquire, for a part of the holder, which has one request at a time. What it uses is known later: see [Gate.Charge].
func (g *Gate[K]) AcquireFor(ctx context.Context, key, part K, n int) error {
	n = g.bounded(n)
	g.mu.Lock()
	h := g.holderLocked(key)
	start := max(h.now, h.work[part])
	if len(h.queue) == 0 && g.passesLocked(h, n) {
		h.now = start
		g.takeLocked(h, n)
		g.mu.Unlock()
		return nil
	}
	r := &request{n: n, start: start, granted: make(chan struct{})}
	switch first := h.insert(r); {
	case len(h.queue) == 1:
		g.waitLocked(h)
	case first: // it may be smaller than the next one, which does not fit
		g.grantLocked(h)
	}
	g.mu.Unlock()
	select {
	case <-r.granted:
		netpoll.Yield() // short turns in a row would leave no core to others
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-r.granted:
		g.releaseLocked(key, n)
	default:
		g.forgetLocked(key, r)
	}
	return context.Cause(ctx)
}

// Try counts n more of the holder. It reports false, and counts nothing, if that exceeds the capacity or the share.
func (g *Gate[K]) Try(key K, n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holderLocked(key)
	if g.fitsLocked(h, n) {
		g.takeLocked(h, n)
		return true
	}
	g.dropLocked(key)
	return false
}

// Release undoes Acquire or Try.
func (g *Gate[K]) Release(key K, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked(key, g.bounded(n))
}

// Charge counts work of a part of a holder. Its next request waits for those of parts that have less, as long as it is no more than a limit
// ahead of them.
func (g *Gate[K]) Charge(key, part K, work, limit int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holders[key]
	if h == nil {
		return // no part waits for another
	}
	if h.work == nil {
		h.work = map[K]int{}
	}
	if len(h.work) >= max(partsKept, h.prunes) {
		maps.DeleteFunc(h.work, func(_ K, at int) bool { return at <= h.now })
		h.prunes = 2 * len(h.work)
	}
	h.work[part] = min(max(h.now, h.work[part])+work, h.now+limit)
}

// give releases n, which may be more than the share.
func (g *Gate[K]) give(key K, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked(key, n)
}

// move counts n of one holder for another.
func (g *Gate[K]) move(from, to K, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > 0 {
		g.takeLocked(g.holderLocked(to), n)
		g.releaseLocked(from, n)
	}
}

// Share returns how much one holder may use.
func (g *Gate[K]) Share() int { return g.share }

// Used returns how much is in use.
func (g *Gate[K]) Used() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used
}

// UsedBy returns how much a holder uses.
func (g *Gate[K]) UsedBy(key K) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.holders[key]; h != nil {
		return h.used
	}
	return 0
}

func (g *Gate[K]) bounded(n int) int { return min(n, g.share) }

func (g *Gate[K]) fitsLocked(h *holder[K], n int) bool {
	return h.used+n <= g.share && g.used+n <= g.capacity
}

// passesLocked reports whether a request may overtake the waiting holders: it fits, and all of them wait only because they
// use their own share already.
func (g *Gate[K]) passesLocked(h *holder[K], n int) bool {
	fits := g.fitsLocked(h, n)
	if g.unbounded || !fits {
		return fits
	}
	for _, other := range g.waiting {
		if other.used+other.queue[0].n <= g.share {
			return false
		}
	}
	return true
}

func (g *Gate[K]) takeLocked(h *holder[K], n int) {
	h.used += n
	g.used += n
}

func (g *Gate[K]) holderLocked(key K) *holder[K] {
	h := g.holders[key]
	if h == nil {
		h = &holder[K]{}
		g.holders[key] = h
	}
	return h
}

func (g *Gate[K]) dropLocked(key K) {
	if h := g.holders[key]; h != nil && h.used == 0 && len(h.queue) == 0 {
		delete(g.holders, key)
	}
}

func (g *Gate[K]) releaseLocked(key K, n int) {
	h := g.holders[key]
	h.used -= n
	g.used -= n
	g.grantLocked(h)
	g.dropLocked(key)
}

// forgetLocked removes a request that is given up.
func (g *Gate[K]) forgetLocked(key K, r *request) {
	h := g.holders[key]
	r.givenUp = true
	h.givenUp++
	if h.tidy(); len(h.queue) == 0 {
		g.leaveLocked(h)
	}
	g.grantLocked(h)
	g.dropLocked(key)
}

func (g *Gate[K]) waitLocked(h *holder[K]) {
	if !g.unbounded {
		g.waiting = append(g.waiting, h)
	}
}

func (g *Gate[K]) leaveLocked(h *holder[K]) {
	for i, other := range g.waiting {
		if other == h {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return
		}
	}
}

// grantLocked grants requests, one of each holder in turn. A holder that uses its share loses its turn. If the request of
// another does not fit the capacity, all wait for it: smaller ones would keep it waiting forever. Without a bound of the capacity, only a holder that
// has changed may go on.
func (g *Gate[K]) grantLocked(changed *holder[K]) {
	for g.unbounded && len(changed.queue) > 0 && changed.used+changed.queue[0].n <= g.share {
		g.grantNextLocked(changed)
	}
	for i := 0; i < len(g.waiting); {
		h := g.waiting[i]
		r := h.queue[0]
		switch {
		case h.used+r.n > g.share:
			i++
			continue
		case g.used+r.n > g.capacity:
			return
		}
		g.grantNextLocked(h)
		g.leaveLocked(h)
		if len(h.queue) > 0 {
			g.waitLocked(h)
		}
		i = 0
	}
}

// grantNextLocked grants the first request of a holder.
func (g *Gate[K]) grantNextLocked(h *holder[K]) {
	r := h.queue[0]
	h.now = r.start
	g.takeLocked(h, r.n)
	close(r.granted)
	h.queue[0] = nil // the queue may go on for hours
	h.queue = h.queue[1:]
	h.tidy()
}
