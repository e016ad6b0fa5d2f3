package fanout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// startTasks starts as many of the tasks that are ready as may run, in the order of the turns of those who caused them.
func (r *runner) startTasks(ctx context.Context, ready []*workItem) {
	for r.tasks < mostTasks {
		ready = slices.DeleteFunc(ready, func(w *workItem) bool { return !r.mayStart(w) })
		next := r.turns.first(ready, 1) // a network that has started one is behind the others
		if len(next) == 0 {
			return
		}
		w := next[0]
		ready = slices.DeleteFunc(ready, func(other *workItem) bool { return other == w })
		if w.Kind == outbox.KindDeleteAccount && !r.waiting.step.CompareAndSwap(false, true) {
			continue // one of another account has begun since
		}
		r.startTask(ctx, w)
	}
}

// mayStart reports whether a task may run beside those that do. One of a network that has none may run beside a few more: the others wait for their
// turns at a master, and it would come before them there. So many of all outboxes have their turns in less time than they wait for these.
func (r *runner) mayStart(w *workItem) bool {
	return r.tasks < maxTasks && r.running.Load() < tasksAtOnce || r.tasks < mostTasks && r.tasksOf[w.actor.Network] == 0
}

// startTask processes an entry concurrently with the rounds. A task needs several exchanges
// with the database and may be repeated from the start.
func (r *runner) startTask(ctx context.Context, w *workItem) {
	w.running = true
	r.turns.serve(w)
	w.progress.superseded = r.superseded(w)
	r.tasks++
	r.running.Add(1)
	r.tasksOf[w.actor.Network]++
	go func() {
		done, err := r.perform(retwis.WithActor(ctx, w.actor), w)
		if w.Kind == outbox.KindDeleteAccount {
			r.waiting.step.Store(false)
		}
		r.running.Add(-1)
		r.finished <- taskResult{w, done, err}
	}()
}

// taskDone records the result of a task.
func (r *runner) taskDone(ctx context.Context, result taskResult) {
	w := result.item
	r.tasks--
	network := w.actor.Network
	if r.tasksOf[network]--; r.tasksOf[network] == 0 {
		delete(r.tasksOf, network)
	}
	w.running = false
	switch {
	case result.err != nil:
		r.fail(ctx, w, result.err)
	case result.done:
		r.complete(w)
	default:
		w.notBefore = time.Now().Add(min(minBackoff<<min(w.rechecks, 10), maxRecheck))
		w.rechecks++
	}
}

// perform executes an entry and records its completion in the partition of the outbox. A
// repair records its completion at its own targets.
func (r *runner) perform(ctx context.Context, w *workItem) (done bool, err error) {
	done, err = r.execute(ctx, w)
	if !done || err != nil || w.Kind == outbox.KindRepair {
		return done, err
	}
	t := &target{partition: r.outboxID, to: outbox.TargetTask, done: true}
	w.targets = []*target{t}
	return true, r.store.MarkDone(ctx, r.outboxID, t.forEntry(w.ID))
}

// execute carries out an entry. It reports false without an error if the entry is not ready.
func (r *runner) execute(ctx context.Context, w *workItem) (done bool, err error) {
	switch w.Kind {
	case outbox.KindBackfill:
		if err := r.recount(ctx, w); err != nil {
			return false, err
		}
		if late, err := r.store.RemoveOrphanEdge(ctx, w.Timeline, w.Author); late || err != nil {
			return err == nil, err
		}
		return true, r.store.Backfill(ctx, w.Timeline, w.Author, w.Score)
	case outbox.KindPurge:
		if err := r.recount(ctx, w); err != nil {
			return false, err
		}
		return true, r.store.Purge(ctx, w.Timeline, w.Author)
	case outbox.KindRegister:
		return r.store.FinishRegistration(ctx, w.User, w.Name)
	case outbox.KindRepair:
		return true, r.repair(ctx, w)
	case outbox.KindDeleteList:
		for done := false; !done; {
			var err error
			if done, err = r.store.DeleteListStep(ctx, w.List); err != nil {
				return false, err
			}
		}
		return true, nil
	case outbox.KindDeleteAccount:
		return true, r.store.DeleteAccountStep(ctx, w.User, w.Step)
	case outbox.KindDetach:
		return true, r.detachFollowers(ctx, w)
	default:
		return false, unknownKind(w.Kind)
	}
}

// recount updates the follower count after a follow or unfollow, which may have been
// interrupted before it did so. Lists have no counts.
func (r *runner) recount(ctx context.Context, w *workItem) error {
	if w.Timeline.Kind != retwis.HomeTimeline {
		return nil
	}
	return r.store.RecountFollowers(ctx, r.store.PartitionOf(w.Timeline), w.Author)
}

func unknownKind(kind outbox.Kind) error {
	return fmt.Errorf("%w: unknown kind %q", outbox.ErrRejected, kind)
}
