package fanout

import (
	"context"
	"slices"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// repairProgress is the progress of a repair. It is in memory only: a repair that starts
// again skips the posts that the lists already hold.
type repairProgress struct {
	begun     bool
	remaining []*target // targets still to be repaired
	after     int64     // score of the last timeline repaired at the first of them

	superseded bool // the next repair of the author covers the same targets
	redelivery bool // the repair delivers lost entries again: its targets are known
}

// superseded reports whether the next entry of the author is another repair. A repair merges
// all newest posts of the author, whichever post it names. Without this check, an import of
// many runs would visit each follower once per run.
func (r *runner) superseded(w *workItem) bool {
	if w.Kind != outbox.KindRepair {
		return false
	}
	q := r.queueByKey[orderingKeyOf(w.Entry)]
	if q == nil || len(q.entries) < 2 {
		return false
	}
	next := q.entries[1]
	return next.Kind == outbox.KindRepair && next.Malformed == nil && !w.progress.redelivery && !next.progress.redelivery
}

// repair merges the newest posts of an author into every home and list that follows the
// author, and delivers the post to single timelines that lack it. A superseded repair leaves
// the homes and lists to the next one.
func (r *runner) repair(ctx context.Context, w *workItem) error {
	p := &w.progress
	if !p.begun {
		if err := r.beginRepair(ctx, w); err != nil {
			return err
		}
		p.begun = true
	}
	for len(p.remaining) > 0 && !p.superseded {
		t := p.remaining[0]
		after, more, err := r.store.RepairTimelines(ctx, w.Author, t.partition, t.to, p.after)
		if err == nil && !more {
			err = r.store.MarkDone(ctx, r.outboxID, t.forEntry(w.ID))
		}
		if err != nil {
			return err
		}
		if p.after = after; !more {
			t.done = true
			p.remaining, p.after = p.remaining[1:], 0
		}
	}
	return nil
}

// beginRepair determines the targets of a repair and serves the single timelines.
func (r *runner) beginRepair(ctx context.Context, w *workItem) error {
	if !w.progress.redelivery {
		partitions, err := r.store.AuthorPartitions(ctx, []retwis.UserID{w.Author})
		if err != nil {
			return err
		}
		w.targets = r.targetsOfPost(w.Entry, partitions[0])
		w.progress.remaining = slices.DeleteFunc(slices.Clone(w.targets), (*target).single)
	}
	var targets []*target
	var calls []outbox.Delivery
	for _, t := range w.targets {
		switch {
		case t.ofReferences():
			// A reply or quote that was requeued may have been deleted since. If it is deleted from now on, its removal follows.
			exists, err := r.store.Exists(ctx, w.Post)
			if err == nil && !exists {
				err = r.store.MarkDone(ctx, r.outboxID, t.forEntry(w.ID))
				t.done = true
			}
			if err != nil {
				return err
			}
			if exists {
				targets = append(targets, t)
				calls = append(calls, outbox.Delivery{Entry: w.Entry, Partition: t.partition, To: t.to})
			}
		case t.single():
			targets = append(targets, t)
			calls = append(calls, outbox.Delivery{Entry: w.Entry, Partition: t.partition, To: t.to, Timeline: t.timeline})
		}
	}
	for i, result := range r.store.Deliver(ctx, calls) {
		if result.Err != nil {
			return result.Err
		}
		targets[i].done = true
	}
	return nil
}
