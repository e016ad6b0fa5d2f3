package fanout

import (
	"context"
	"sync"
	"time"

	"retwis/internal/outbox"
)

// trimResult is the result of a trim.
type trimResult struct {
	entries    int // number of completed entries, the oldest ones
	delivered  []deliveredTarget
	lost       []int // indexes of delivered whose targets lost the delivery
	reappeared bool  // the outbox holds entries that had been trimmed
	err        error
}

// deliveredTarget is a target to which an entry was delivered.
type deliveredTarget struct {
	item   *workItem
	target *target
}

// trim starts the removal of the oldest completed entries from the outbox, if it is due. It
// works concurrently with the rounds, which therefore do not wait for slow replicas.
//
// A trim verifies that the deliveries are durable, and advances the watermarks of the
// partitions before it removes the entries: an entry that reappears after a failover is below
// the watermark and has no effect. Without completed entries, a periodic trim verifies that no
// trimmed entries have reappeared.
func (r *runner) trim(ctx context.Context, idle bool) {
	n := 0
	for n < min(len(r.entries), trimCount) && r.entries[n].done {
		n++
	}
	now := time.Now()
	since := now.Sub(r.lastTrim)
	if r.trimming || r.last == "" || n > 0 && now.Before(r.trimAt) ||
		n == 0 && since < verifyEvery || !idle && n < trimCount && since < trimEvery {
		return
	}
	if n > 0 && n < trimCount && r.store.BesideOperations() {
		if at := r.trims.begin(now); at.After(now) {
			r.trimAt = at
			return
		}
	}
	r.lastTrim, r.trimming = now, true
	result := trimResult{entries: n}
	in := map[int]int{r.outboxID: 0} // the number of targets, by partition
	var targets []outbox.Target
	for _, w := range r.entries[:n] {
		for _, t := range w.targets {
			in[t.partition]++
			if t.done {
				result.delivered = append(result.delivered, deliveredTarget{w, t})
				targets = append(targets, t.forEntry(w.ID))
			}
		}
	}
	first, upTo, untrimmed := outbox.NextID(r.last), "", len(r.entries)
	if len(r.entries) > 0 {
		first = r.entries[0].ID
	}
	if n > 0 {
		upTo = r.entries[n-1].ID
	}
	go func() {
		result.lost, result.reappeared, result.err = r.store.VerifyDurable(ctx, r.outboxID, first, targets)
		if result.err == nil && len(result.lost) == 0 && !result.reappeared && upTo != "" {
			result.err = r.store.AdvanceWatermark(ctx, r.outboxID, upTo, in, untrimmed)
			if result.err == nil {
				result.err = r.store.TrimOutbox(ctx, r.outboxID, upTo)
			}
		}
		r.trims.took(time.Since(now))
		r.trimmed <- result
	}()
}

// trimRests make the short trims of all outboxes of a worker pause, beside operations. A trim has a script for each partition, whether it removes one
// entry or many. So a worker with few entries in each outbox trims several at once, and does not spend more on trims than on deliveries.
type trimRests struct {
	mu  sync.Mutex
	end time.Time
}

// begin returns when a trim may begin. If that is not later than now, it begins, and others do not begin at the same time.
func (t *trimRests) begin(now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end.After(now) {
		return t.end
	}
	t.end = now.Add(trimGap)
	return now
}

// took notes how long a trim took. One that took long has waited for a replica, or for a master that does not answer, and does not delay others.
func (t *trimRests) took(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = later(t.end, time.Now().Add(min(trimRest*d, maxTrimRest)))
}

// trimDone processes the result of a trim.
func (r *runner) trimDone(ctx context.Context, result trimResult) {
	r.trimming = false
	switch {
	case ctx.Err() != nil:
	case result.err != nil:
		r.log.WarnContext(ctx, "fanout: trimming the outbox failed, retrying", "err", result.err)
		r.trimAt = time.Now().Add(trimBackoff)
	case result.reappeared:
		r.log.WarnContext(ctx, "fanout: trimmed entries reappeared after a failover, rereading the outbox")
		r.rereadBelow = outbox.NextID(r.last)
	case len(result.lost) > 0:
		r.log.WarnContext(ctx, "fanout: deliveries were lost in a failover, delivering again", "targets", len(result.lost))
		r.redeliver(result)
	default:
		r.release(r.entries[:result.entries])
		r.entries = append([]*workItem(nil), r.entries[result.entries:]...)
	}
}
