package fanout

import (
	"context"
	"fmt"
	"time"

	"retwis/internal/retwis"
)

// repairProgress is how far the repair of an author's followers has come. It is kept in
// memory only: a repair that starts again finds the posts there.
type repairProgress struct {
	partitions []int
	after      int64
	public     bool
}

// startTask carries an entry out beside the rounds: it takes several exchanges with the
// database, and may be repeated from the start.
func (r *runner) startTask(ctx context.Context, w *work) {
	w.running = true
	r.tasks++
	go func() {
		done, err := r.perform(ctx, w)
		r.finished <- taskResult{w, done, err}
	}()
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

func (r *runner) perform(ctx context.Context, w *work) (done bool, err error) {
	switch w.Kind {
	case retwis.OutboxBackfill:
		if err := r.store.RecountFollowers(ctx, w.Reader, w.Author); err != nil {
			return false, err
		}
		return true, r.store.Backfill(ctx, w.Reader, w.Author, w.Score)
	case retwis.OutboxPurge:
		if err := r.store.RecountFollowers(ctx, w.Reader, w.Author); err != nil {
			return false, err
		}
		return true, r.store.Purge(ctx, w.Reader, w.Author)
	case retwis.OutboxRegister:
		return r.store.SettleRegistration(ctx, w.Reader, w.Name)
	case retwis.OutboxRepair:
		return true, r.repair(ctx, w)
	default:
		return false, unknownKind(w.Kind)
	}
}

// repair merges an author's newest posts into every follower's home, and puts the post on
// the public timeline where it is missing.
func (r *runner) repair(ctx context.Context, w *work) error {
	p := &w.progress
	if p.partitions == nil {
		reach, err := r.store.Reach(ctx, []retwis.UserID{w.Author})
		if err != nil {
			return err
		}
		p.partitions = make([]int, 0, len(reach[0]))
		for partition := range reach[0] {
			p.partitions = append(p.partitions, partition)
		}
	}
	if !p.public {
		result := r.store.Deliver(ctx, []retwis.Delivery{{Entry: w.OutboxEntry, Partition: r.store.PublicPartition(), Public: true}})
		if result[0].Err != nil {
			return result[0].Err
		}
		w.targets = []*target{{partition: r.store.PublicPartition(), public: true, done: true}}
		p.public = true
	}
	for len(p.partitions) > 0 {
		after, more, err := r.store.Repair(ctx, w.Author, p.partitions[0], p.after)
		if err != nil {
			return err
		}
		if p.after = after; !more {
			p.partitions, p.after = p.partitions[1:], 0
		}
	}
	return nil
}

func unknownKind(kind retwis.OutboxKind) error {
	return fmt.Errorf("%w: there is no kind %q", retwis.ErrEntryRefused, kind)
}
