package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"retwis/internal/retwis"
)

// repairProgress is how far a repair has come. It is kept in memory only: a repair that
// starts again finds the posts there.
type repairProgress struct {
	begun bool
	left  []*target // partitions still to go over
	after int64     // score of the last timeline served in the first of them

	superseded bool // the next repair goes over the same partitions
	again      bool // what was lost is carried out again: the targets are known
}

// startTask carries an entry out beside the rounds: it takes several exchanges with the
// database, and may be repeated from the start.
func (r *runner) startTask(ctx context.Context, w *work) {
	w.running = true
	w.progress.superseded = r.superseded(w)
	r.tasks++
	go func() {
		done, err := r.perform(ctx, w)
		r.finished <- taskResult{w, done, err}
	}()
}

// superseded reports whether a repair is followed at once by another one of the same author.
// That one merges all of the author's newest posts as well, whichever post it names: an
// import of many runs would go over every follower once for each of them.
func (r *runner) superseded(w *work) bool {
	if w.Kind != retwis.OutboxRepair {
		return false
	}
	queue := r.lanes[laneOf(w.OutboxEntry)]
	return len(queue) > 1 && queue[1].Kind == retwis.OutboxRepair && queue[1].Malformed == nil &&
		!w.progress.again && !queue[1].progress.again
}

func (r *runner) taskDone(ctx context.Context, result taskResult) {
	r.tasks--
	w := result.work
	w.running = false
	switch {
	case result.err != nil:
		r.failed(ctx, w, result.err)
	case result.done:
		r.complete(w)
	default:
		w.notBefore = time.Now().Add(min(minPause<<min(w.looks, 10), maxSettle))
		w.looks++
	}
}

// perform carries an entry out, and has that noted beside the outbox: what a repair does is
// noted where it is done.
func (r *runner) perform(ctx context.Context, w *work) (done bool, err error) {
	done, err = r.carryOut(ctx, w)
	if !done || err != nil || w.Kind == retwis.OutboxRepair {
		return done, err
	}
	t := &target{partition: r.outbox, to: retwis.ToNobody, done: true}
	w.targets = []*target{t}
	return true, r.store.Note(ctx, r.outbox, t.place(w.ID))
}

func (r *runner) carryOut(ctx context.Context, w *work) (done bool, err error) {
	switch w.Kind {
	case retwis.OutboxBackfill:
		if err := r.recount(ctx, w); err != nil {
			return false, err
		}
		if late, err := r.store.EndLateEdge(ctx, w.Timeline, w.Author); late || err != nil {
			return err == nil, err
		}
		return true, r.store.Backfill(ctx, w.Timeline, w.Author, w.Score)
	case retwis.OutboxPurge:
		if err := r.recount(ctx, w); err != nil {
			return false, err
		}
		return true, r.store.Purge(ctx, w.Timeline, w.Author)
	case retwis.OutboxRegister:
		return r.store.SettleRegistration(ctx, w.User, w.Name)
	case retwis.OutboxRepair:
		return true, r.repair(ctx, w)
	case retwis.OutboxUnlist:
		for done := false; !done; {
			var err error
			if done, err = r.store.Unlist(ctx, w.List); err != nil {
				return false, err
			}
		}
		return true, nil
	case retwis.OutboxLeave:
		return true, r.store.LeaveStep(ctx, w.User, w.Step)
	case retwis.OutboxPart:
		return true, r.part(ctx, w)
	default:
		return false, unknownKind(w.Kind)
	}
}

// recount counts the followers again after a follow or unfollow, which may have broken off
// before it did so itself. Lists are not counted.
func (r *runner) recount(ctx context.Context, w *work) error {
	if w.Timeline.Kind != retwis.HomeTimeline {
		return nil
	}
	return r.store.RecountFollowers(ctx, r.store.PartitionOf(w.Timeline), w.Author)
}

// repair merges an author's newest posts into every home and list that follows the author,
// and puts the post on the single timelines where it is missing. A repair that is superseded
// leaves the homes and lists to the next one.
func (r *runner) repair(ctx context.Context, w *work) error {
	p := &w.progress
	if !p.begun {
		if err := r.beginRepair(ctx, w); err != nil {
			return err
		}
		p.begun = true
	}
	for len(p.left) > 0 && !p.superseded {
		t := p.left[0]
		after, more, err := r.store.Repair(ctx, w.Author, t.partition, t.to, p.after)
		if err == nil && !more {
			err = r.store.Note(ctx, r.outbox, t.place(w.ID))
		}
		if err != nil {
			return err
		}
		if p.after = after; !more {
			t.done = true
			p.left, p.after = p.left[1:], 0
		}
	}
	return nil
}

// beginRepair finds out where a repair goes, and sees to the single timelines.
func (r *runner) beginRepair(ctx context.Context, w *work) error {
	if !w.progress.again {
		reach, err := r.store.Reach(ctx, []retwis.UserID{w.Author})
		if err != nil {
			return err
		}
		w.targets = r.targetsOfPost(w.OutboxEntry, reach[0])
		w.progress.left = slices.DeleteFunc(slices.Clone(w.targets), (*target).single)
	}
	var targets []*target
	var calls []retwis.Delivery
	for _, t := range w.targets {
		if t.single() {
			targets = append(targets, t)
			calls = append(calls, retwis.Delivery{Entry: w.OutboxEntry, Partition: t.partition, To: t.to, User: t.user})
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

func unknownKind(kind retwis.OutboxKind) error {
	return fmt.Errorf("%w: there is no kind %q", retwis.ErrEntryRefused, kind)
}
