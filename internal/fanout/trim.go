package fanout

import (
	"context"
	"errors"
	"time"

	"retwis/internal/retwis"
)

// trimResult is what became of an attempt to trim the outbox.
type trimResult struct {
	entries      int // the oldest so many
	delivered    []deliveredTarget
	lost         []int // of carried: the places know nothing of it
	reappeared   bool  // the outbox holds what had been trimmed
	unreplicated bool  // no replica says that it has what was carried out
	err          error
}

// deliveredTarget is a target where an entry was deliveredTarget out.
type deliveredTarget struct {
	work   *workItem
	target *target
}

// trim removes what is carried out from the outbox, oldest first. That goes on beside the
// rounds, which need not wait for a replica that is slow to say that it has everything.
// Before entries are removed the partitions they went to learn that they are carried out: one
// that is seen again does nothing there. Now and then it only looks whether the outbox is
// what it should be.
func (r *runner) trim(ctx context.Context, idle bool) {
	n := 0
	for n < len(r.entries) && r.entries[n].done {
		n++
	}
	since := time.Since(r.lastTrim)
	if r.trimming || r.last == "" || n > 0 && time.Now().Before(r.trimAt) ||
		n == 0 && since < verifyEvery || !idle && n < trimCount && since < trimEvery {
		return
	}
	r.lastTrim, r.trimming = time.Now(), true
	result := trimResult{entries: n}
	in := map[int]bool{r.outbox: true}
	var places []retwis.Place
	for _, w := range r.entries[:n] {
		for _, t := range w.targets {
			in[t.partition] = true
			if t.done {
				result.delivered = append(result.delivered, deliveredTarget{w, t})
				places = append(places, t.forEntry(w.ID))
			}
		}
	}
	partitions := make([]int, 0, len(in))
	for partition := range in {
		partitions = append(partitions, partition)
	}
	first, upTo := retwis.NextEntry(r.last), ""
	if len(r.entries) > 0 {
		first = r.entries[0].ID
	}
	if n > 0 {
		upTo = r.entries[n-1].ID
	}
	insist := r.unreplicatedSince.IsZero() || time.Since(r.unreplicatedSince) < r.options.ReplicaTimeout
	go func() {
		result.lost, result.reappeared, result.err = r.store.Confirm(ctx, r.outbox, first, places, true)
		if result.unreplicated = errors.Is(result.err, retwis.ErrNotReplicated); result.unreplicated && !insist {
			result.lost, result.reappeared, result.err = r.store.Confirm(ctx, r.outbox, first, places, false)
		}
		if result.err == nil && len(result.lost) == 0 && !result.reappeared && upTo != "" {
			result.err = r.store.Advance(ctx, r.outbox, upTo, partitions)
			if result.err == nil {
				result.err = r.store.TrimOutbox(ctx, r.outbox, upTo)
			}
		}
		r.trimmed <- result
	}()
}

func (r *runner) trimDone(ctx context.Context, result trimResult) {
	r.trimming = false
	if !result.unreplicated {
		r.unreplicatedSince = time.Time{}
	} else if r.unreplicatedSince.IsZero() {
		r.unreplicatedSince = time.Now()
	}
	switch {
	case ctx.Err() != nil:
	case result.err != nil:
		r.log.WarnContext(ctx, "trimming an outbox failed: trying again", "err", result.err)
		r.trimAt = time.Now().Add(trimBackoff)
	case result.reappeared:
		r.log.WarnContext(ctx, "an outbox holds again what was trimmed, as after a failover: reading it anew")
		r.rereadBelow = retwis.NextEntry(r.last)
	case len(result.lost) > 0:
		r.log.WarnContext(ctx, "what was carried out is gone, as after a failover: carrying it out again", "places", len(result.lost))
		r.redeliver(result)
	default:
		r.entries = append([]*workItem(nil), r.entries[result.entries:]...)
	}
}
