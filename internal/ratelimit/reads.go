package ratelimit

import (
	"context"
	"sync"
	"time"

	"retwis/internal/sleep"
)

const (
	maxReaders    = 100_000                // readers that one process counts
	maxReports    = 256                    // readers reported in one call
	sweepInterval = time.Second            // between sweeps for readers whose budget is full
	sweepBatch    = 20_000                 // readers examined by one sweep
	maxDebt       = 2                      // usage of one reader, in whole budgets; the store has the same bound
	retryInterval = 500 * time.Millisecond // between attempts to report

	minDelay    = 250 * time.Millisecond // of a refusal
	maxDelay    = 4 * time.Minute        // a network may have 10 000 websockets, each with a refusal
	maxRefusals = 50                     // of one reader per second: they take twice what its budget pays for
)

// readLimiter counts reads in this process.
//
// The generic cell rate algorithm forgets usage once the time to replenish it has passed.
// So the reads of a client that reads little are never reported: a later report would
// change nothing. A client that has used a twentieth of its budget since the last report is
// reported at once; that is how much each process may admit before the others know.
type readLimiter struct {
	rate  Rate
	chunk time.Duration
	wake  chan struct{} // has an element when reports are due

	mu      sync.Mutex
	readers map[Key]*reader
	due     []Key // readers to report
}

// reader is the usage of one reader, as far as this process knows.
type reader struct {
	full    time.Time     // when the whole budget is available again
	shared  time.Time     // the same in the store, after the last report
	unsent  time.Duration // usage that is not reported yet; negative if more was given back
	pending bool          // whether a report is due or under way
	refusal time.Time     // when the last delayed refusal is due
}

func newReadLimiter(rate Rate) *readLimiter {
	return &readLimiter{
		rate:    rate,
		chunk:   rate.Period / 20,
		wake:    make(chan struct{}, 1),
		readers: map[Key]*reader{},
	}
}

// take counts the cost of an operation, or returns how long to wait for enough budget. An
// operation that costs more than the whole budget takes the whole budget.
func (l *readLimiter) take(key Key, cost int) (budget Budget, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	r := l.readerLocked(key)
	used, takes := r.used(now), l.takes(cost)
	if used+takes > l.rate.Period {
		return l.remaining(used), used + takes - l.rate.Period
	}
	l.useLocked(key, r, now, used+takes, takes)
	return l.remaining(used + takes), 0
}

// spend counts what has been done already.
func (l *readLimiter) spend(key Key, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	r := l.readerLocked(key)
	used, takes := r.used(now), l.takes(cost)
	if used > l.rate.Period {
		return // the debt does not grow further
	}
	l.useLocked(key, r, now, used+takes, takes)
}

// charge counts what an operation has done beyond its cost, also above the whole budget. It reports whether the debt has reached its bound, so
// that not all was counted.
func (l *readLimiter) charge(key Key, cost int) (full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	r := l.readerLocked(key)
	takes := l.takes(cost)
	used := r.used(now) + takes
	l.useLocked(key, r, now, min(used, maxDebt*l.rate.Period), takes)
	return used > maxDebt*l.rate.Period
}

// refund gives back a part of a cost that was counted before.
func (l *readLimiter) refund(key Key, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readers[key]
	if r == nil {
		return
	}
	now := time.Now()
	used := r.used(now)
	gives := min(l.takes(cost), used)
	r.full = now.Add(used - gives)
	r.addUnsent(now, -gives)
	l.reportLocked(key, r)
}

// wait returns how long a reader has to wait until it can take a cost, or the whole budget; at most 0 if it can now.
func (l *readLimiter) wait(key Key, cost int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readers[key]
	if r == nil {
		return 0
	}
	return r.used(time.Now()) + l.takes(cost) - l.rate.Period
}

// delay returns how long the next refusal of a reader waits.
func (l *readLimiter) delay(key Key) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, now := l.readers[key], time.Now()
	if r == nil {
		return minDelay
	}
	wait := min(max(minDelay, r.refusal.Add(time.Second/maxRefusals).Sub(now)), maxDelay)
	r.refusal = now.Add(wait)
	return wait
}

func (l *readLimiter) budget(key Key) Budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remaining(l.readerLocked(key).used(time.Now()))
}

func (l *readLimiter) takes(cost int) time.Duration {
	return max(min(l.rate.Time(min(cost, l.rate.Limit)), l.rate.Period), 1)
}

func (l *readLimiter) remaining(used time.Duration) Budget {
	return Budget{Rate: l.rate, Remaining: l.rate.Remaining(used), Reset: used}
}

func (r *reader) used(now time.Time) time.Duration { return max(r.full.Sub(now), 0) }

func (l *readLimiter) readerLocked(key Key) *reader {
	r := l.readers[key]
	if r == nil {
		if len(l.readers) >= maxReaders {
			l.forgetLocked()
		}
		r = &reader{}
		l.readers[key] = r
	}
	return r
}

// forgetLocked drops a reader without a pending report to make room. The process learns its
// usage again once the reader has used another twentieth of its budget.
func (l *readLimiter) forgetLocked() {
	for key, r := range l.readers {
		if !r.pending {
			delete(l.readers, key)
			return
		}
	}
}

func (l *readLimiter) useLocked(key Key, r *reader, now time.Time, used, takes time.Duration) {
	if used == takes {
		r.unsent = min(r.unsent, 0) // all earlier usage is replenished
	}
	r.full = now.Add(used)
	r.addUnsent(now, takes)
	l.reportLocked(key, r)
}

// addUnsent adds usage to report, or gives it back: not more than the store still counts.
func (r *reader) addUnsent(now time.Time, usage time.Duration) {
	r.unsent = max(r.unsent, -max(r.shared.Sub(now), 0)) + usage
}

// reportLocked queues a report of a reader with enough unreported usage.
func (l *readLimiter) reportLocked(key Key, r *reader) {
	if max(r.unsent, -r.unsent) < l.chunk || r.pending {
		return
	}
	r.pending = true
	l.due = append(l.due, key)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// begin returns the usage to report of a reader.
func (l *readLimiter) begin(key Key) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(key)
	now := time.Now()
	r.addUnsent(now, 0)
	unsent := min(r.unsent, r.used(now)) // the rest was replenished during a slow report
	r.unsent = 0
	return unsent
}

// settle takes over the usage that all processes have reported of a reader.
func (l *readLimiter) settle(key Key, used time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(key)
	r.pending = false
	now := time.Now()
	r.shared = now.Add(used)
	r.full = now.Add(max(used+r.unsent, 0))
	l.reportLocked(key, r) // reads during the report
}

// failed takes back the usage of a report that failed.
func (l *readLimiter) failed(key Key, unsent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(key)
	r.pending = false
	r.unsent = min(r.unsent+unsent, 2*l.rate.Period)
	l.reportLocked(key, r)
}

// run calls report for readers whose reports are due, until ctx is done.
func (l *readLimiter) run(ctx context.Context, report func(context.Context, []Key) error) {
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			l.sweep()
		case <-l.wake:
		}
		for keys := l.next(); len(keys) > 0; keys = l.next() {
			if report(ctx, keys) != nil && sleep.For(ctx, retryInterval) != nil {
				return
			}
		}
	}
}

// next removes a batch of readers from the queue of reports, and returns it.
func (l *readLimiter) next() []Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.due), maxReports)
	next := l.due[:n:n]
	if l.due = l.due[n:]; len(l.due) == 0 {
		l.due = nil
	}
	return next
}

// sweep drops readers whose budget is full.
func (l *readLimiter) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, seen := time.Now(), 0
	for key, r := range l.readers {
		if !r.pending && r.used(now) == 0 {
			delete(l.readers, key)
		}
		if seen++; seen == sweepBatch {
			return
		}
	}
}
