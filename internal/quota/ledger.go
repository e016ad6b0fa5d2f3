package quota

import (
	"context"
	"sync"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

const (
	maxReaders   = 100_000                // that one process counts the reads of
	maxReports   = 256                    // readers that are written down by one call
	sweepEvery   = time.Second            // for readers that have all of their budget again
	sweptAtOnce  = 20_000                 // readers
	reportFailed = 500 * time.Millisecond // until reports are tried again
)

// ledger counts what is read in this process.
//
// The generic cell rate algorithm forgets what was used once the time to win it back has
// passed. So who reads little is never written down: a report after that time would change
// nothing. Who has used a twentieth of a budget since the last report is, at once; that
// much each process may let through before the others know.
type ledger struct {
	rate  retwis.Rate
	chunk time.Duration
	wake  chan struct{} // has an element when somebody is due

	mu      sync.Mutex
	readers map[retwis.Holder]*reader
	due     []retwis.Holder // readers to report
}

// reader is what one reader has used, as far as it is known here.
type reader struct {
	full time.Time     // when the whole budget is there again
	owed time.Duration // what is not written down yet
	due  bool
}

func newLedger(rate retwis.Rate) *ledger {
	return &ledger{
		rate:    rate,
		chunk:   rate.Period / 20,
		wake:    make(chan struct{}, 1),
		readers: map[retwis.Holder]*reader{},
	}
}

// take counts the cost of an operation, or returns how long to wait until there is enough
// of the budget again. An operation that costs more than all of it takes all of it.
func (l *ledger) take(who retwis.Holder, cost int) (left retwis.Allowance, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	r := l.readerLocked(who)
	used, takes := r.used(now), l.takes(cost)
	if used+takes > l.rate.Period {
		return l.left(used), used + takes - l.rate.Period
	}
	l.useLocked(who, r, now, used+takes, takes)
	return l.left(used + takes), 0
}

// spend counts what was done already.
func (l *ledger) spend(who retwis.Holder, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	r := l.readerLocked(who)
	used, takes := r.used(now), l.takes(cost)
	if used > l.rate.Period {
		return // deep enough in debt
	}
	l.useLocked(who, r, now, used+takes, takes)
}

// wait returns how long a reader who has nothing left has to wait.
func (l *ledger) wait(who retwis.Holder) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readers[who]
	if r == nil {
		return 0
	}
	return r.used(time.Now()) + l.takes(1) - l.rate.Period
}

func (l *ledger) allowance(who retwis.Holder) retwis.Allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left(l.readerLocked(who).used(time.Now()))
}

func (l *ledger) takes(cost int) time.Duration {
	return max(min(l.rate.Time(min(cost, l.rate.Limit)), l.rate.Period), 1)
}

func (l *ledger) left(used time.Duration) retwis.Allowance {
	return retwis.Allowance{Rate: l.rate, Left: l.rate.Left(used), Full: used}
}

func (r *reader) used(now time.Time) time.Duration { return max(r.full.Sub(now), 0) }

func (l *ledger) readerLocked(who retwis.Holder) *reader {
	r := l.readers[who]
	if r == nil {
		if len(l.readers) >= maxReaders {
			l.forgetLocked()
		}
		r = &reader{}
		l.readers[who] = r
	}
	return r
}

// forgetLocked makes room by a reader that nobody waits to hear of. What is forgotten is
// learned again when that reader has used another twentieth of a budget.
func (l *ledger) forgetLocked() {
	for who, r := range l.readers {
		if !r.due {
			delete(l.readers, who)
			return
		}
	}
}

func (l *ledger) useLocked(who retwis.Holder, r *reader, now time.Time, used, takes time.Duration) {
	if used == takes {
		r.owed = 0 // all before has been won back
	}
	r.full = now.Add(used)
	r.owed += takes
	l.reportLocked(who, r)
}

// reportLocked has a reader reported who owes enough.
func (l *ledger) reportLocked(who retwis.Holder, r *reader) {
	if r.owed < l.chunk || r.due {
		return
	}
	r.due = true
	l.due = append(l.due, who)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// begin returns what has to be reported of a reader.
func (l *ledger) begin(who retwis.Holder) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(who)
	owed := min(r.owed, r.used(time.Now())) // the rest has been won back, if a report took long
	r.owed = 0
	return owed
}

// settle takes over what all processes have counted of a reader.
func (l *ledger) settle(who retwis.Holder, used time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(who)
	r.due = false
	r.full = time.Now().Add(used + r.owed)
	l.reportLocked(who, r) // of what was read while the report was on its way
}

// failed takes back a report.
func (l *ledger) failed(who retwis.Holder, owed time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.readerLocked(who)
	r.due = false
	r.owed = min(r.owed+owed, 2*l.rate.Period)
	l.reportLocked(who, r)
}

// run reports those who are due, until ctx is done.
func (l *ledger) run(ctx context.Context, report func(context.Context, []retwis.Holder) error) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			l.sweep()
		case <-l.wake:
		}
		for readers := l.next(); len(readers) > 0; readers = l.next() {
			if report(ctx, readers) != nil && sleep.For(ctx, reportFailed) != nil {
				return
			}
		}
	}
}

// next takes some of those who are due.
func (l *ledger) next() []retwis.Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.due), maxReports)
	next := l.due[:n:n]
	if l.due = l.due[n:]; len(l.due) == 0 {
		l.due = nil
	}
	return next
}

// sweep forgets readers that have all of their budget again.
func (l *ledger) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, seen := time.Now(), 0
	for who, r := range l.readers {
		if !r.due && r.used(now) == 0 {
			delete(l.readers, who)
		}
		if seen++; seen == sweptAtOnce {
			return
		}
	}
}
