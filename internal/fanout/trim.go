package fanout

import (
	"context"
	"errors"
	"slices"
	"time"

	"retwis/internal/retwis"
)

// trimResult is what became of an attempt to trim the outbox.
type trimResult struct {
	entries int // the oldest so many
	carried []carried
	lost    []int // of carried: the places know nothing of it
	again   bool  // the outbox holds what had been trimmed
	unsure  bool  // no replica says that it has what was carried out
	err     error
}

// carried is a target where an entry was carried out.
type carried struct {
	work   *work
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
		n == 0 && since < lookEvery || !idle && n < trimCount && since < trimEvery {
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
				result.carried = append(result.carried, carried{w, t})
				places = append(places, t.place(w.ID))
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
	insist := r.unsure.IsZero() || time.Since(r.unsure) < r.options.Insist
	go func() {
		result.lost, result.again, result.err = r.store.Confirm(ctx, r.outbox, first, places, true)
		if result.unsure = errors.Is(result.err, retwis.ErrNotReplicated); result.unsure && !insist {
			result.lost, result.again, result.err = r.store.Confirm(ctx, r.outbox, first, places, false)
		}
		if result.err == nil && len(result.lost) == 0 && !result.again && upTo != "" {
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
	if !result.unsure {
		r.unsure = time.Time{}
	} else if r.unsure.IsZero() {
		r.unsure = time.Now()
	}
	switch {
	case ctx.Err() != nil:
	case result.err != nil:
		r.log.WarnContext(ctx, "trimming an outbox failed: trying again", "err", result.err)
		r.trimAt = time.Now().Add(trimPause)
	case result.again:
		r.log.WarnContext(ctx, "an outbox holds again what was trimmed, as after a failover: reading it anew")
		r.stale = retwis.NextEntry(r.last)
	case len(result.lost) > 0:
		r.log.WarnContext(ctx, "what was carried out is gone, as after a failover: carrying it out again", "places", len(result.lost))
		r.doAgain(result)
	default:
		r.entries = append([]*work(nil), r.entries[result.entries:]...)
	}
}

// doAgain has what is lost carried out again. Newer posts of their author may have come
// before the posts by now: so these are merged, all of an author's by the first's repair.
func (r *runner) doAgain(result trimResult) {
	lost := map[*work][]*target{}
	for _, i := range result.lost {
		c := result.carried[i]
		c.target.done, c.target.position = false, ""
		lost[c.work] = append(lost[c.work], c.target)
	}
	repairs := map[lane]*work{}
	var undone []*work
	for _, w := range r.entries[:result.entries] {
		targets := lost[w]
		if targets == nil {
			continue
		}
		undone = append(undone, w)
		w.done, w.failures, w.looks = false, 0, 0
		switch w.Kind {
		case retwis.OutboxDelete:
		case retwis.OutboxPost, retwis.OutboxRepair:
			w.Kind, w.progress = retwis.OutboxRepair, repairProgress{again: true}
			l := laneOf(w.OutboxEntry)
			if repairs[l] == nil {
				repairs[l] = w
			}
			for _, t := range targets {
				if !t.single() {
					repairs[l].goOver(t)
				}
			}
		default:
			w.targets = nil
		}
	}
	for _, w := range slices.Backward(undone) {
		r.putBack(w)
	}
}

// goOver adds to a repair the timelines that another target is about, if it lacks them.
func (w *work) goOver(other *target) {
	same := func(t *target) bool { return t.partition == other.partition && t.to == other.to }
	if slices.ContainsFunc(w.progress.left, same) {
		return
	}
	i := slices.IndexFunc(w.targets, same)
	if i < 0 {
		i = len(w.targets)
		w.targets = append(w.targets, &target{partition: other.partition, to: other.to})
	}
	w.progress.left = append(w.progress.left, w.targets[i])
}

// putBack puts an entry that was carried out before all others of its lane.
func (r *runner) putBack(w *work) {
	l := laneOf(w.OutboxEntry)
	queue := r.lanes[l]
	if slices.Contains(queue, w) {
		return
	}
	if len(queue) == 0 {
		r.order = append(r.order, l)
	}
	r.lanes[l] = append([]*work{w}, queue...)
}
