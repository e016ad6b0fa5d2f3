package fanout

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// servedOutbox is an outbox that the worker serves.
type servedOutbox struct {
	cancel   context.CancelFunc
	done     chan struct{}
	leasedAt time.Time // when the lease was last acquired or renewed
}

// leaseTTL is the lifetime of a lease in the database, and rebalanceEvery the interval of
// renewals. Together they are shorter than Options.Lease: within it, the lease of a dead worker
// expires and another worker notices.
func (w *Worker) leaseTTL() time.Duration       { return w.options.Lease * 3 / 4 }
func (w *Worker) rebalanceEvery() time.Duration { return w.options.Lease / 8 }

// rebalance renews the leases of the worker, releases those above its fair share, and
// acquires free leases up to its fair share: the number of outboxes divided by the number of
// workers, rounded up. All leases of a step are one exchange with the database, so that an
// outbox of a failed master does not delay the others.
func (w *Worker) rebalance(ctx context.Context) error {
	workers, err := w.store.RegisterWorker(ctx, w.options.Name, w.leaseTTL())
	if err == nil {
		w.workers = max(workers, 1)
	}
	masters, unknown := w.store.Masters(ctx)
	if unknown == nil {
		w.turns.setMasters(masters)
	}
	failed := []error{err, unknown}
	outboxes := w.store.Partitions()
	fair := (outboxes + w.workers - 1) / w.workers
	var mine, others []int
	for _, outbox := range rand.Perm(outboxes) {
		if w.serving(outbox) != nil {
			mine = append(mine, outbox)
		} else {
			others = append(others, outbox)
		}
	}
	for _, outbox := range mine[min(fair, len(mine)):] {
		w.stop(outbox)
		failed = append(failed, w.store.ReleaseLease(ctx, outbox, w.options.Name))
	}
	mine = mine[:min(fair, len(mine))]
	failed = append(failed, w.renew(ctx, mine))
	if wanted := fair - w.servedCount(); wanted > 0 {
		failed = append(failed, w.acquire(ctx, others, wanted))
	}
	w.stopExpired(time.Now().Add(-w.leaseTTL()))
	return errors.Join(failed...)
}

// renew renews the leases of served outboxes, and stops serving those that another worker has.
func (w *Worker) renew(ctx context.Context, outboxes []int) error {
	var failed error
	for i, lease := range w.store.AcquireLeases(ctx, outboxes, w.options.Name, w.leaseTTL()) {
		switch {
		case lease.Err != nil:
			failed = lease.Err
		case !lease.Held:
			w.log.InfoContext(ctx, "fanout: another worker took over the outbox", "outbox", outboxes[i])
			w.stop(outboxes[i])
		default:
			w.serving(outboxes[i]).leasedAt = time.Now()
		}
	}
	return failed
}

// acquire acquires leases that are free, and serves their outboxes, until it has as many as wanted.
func (w *Worker) acquire(ctx context.Context, outboxes []int, wanted int) error {
	free, failed := w.store.FreeLeases(ctx, outboxes)
	for len(free) > 0 && wanted > 0 {
		batch := free[:min(wanted, len(free))]
		free = free[len(batch):]
		for i, lease := range w.store.AcquireLeases(ctx, batch, w.options.Name, w.leaseTTL()) {
			if lease.Err != nil {
				failed = lease.Err
			} else if lease.Held {
				w.start(ctx, batch[i])
				wanted--
			}
		}
	}
	return failed
}

func (w *Worker) serving(outbox int) *servedOutbox {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.served[outbox]
}

func (w *Worker) servedCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.served)
}

// start serves an outbox until it is stopped.
func (w *Worker) start(ctx context.Context, outbox int) {
	ctx, cancel := context.WithCancel(ctx)
	r := &servedOutbox{cancel: cancel, done: make(chan struct{}), leasedAt: time.Now()}
	w.mu.Lock()
	w.served[outbox] = r
	w.mu.Unlock()
	go func() {
		defer close(r.done)
		repairBelow := ""
		for ctx.Err() == nil {
			r := newRunner(w, outbox, repairBelow)
			r.run(ctx)
			repairBelow = r.rereadBelow
		}
	}()
}

// stop stops serving an outbox and waits until its runner has ended.
func (w *Worker) stop(outbox int) {
	w.mu.Lock()
	r := w.served[outbox]
	delete(w.served, outbox)
	w.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.done
	}
}

// stopExpired stops serving the outboxes whose lease was last renewed before an instant:
// another worker may have acquired the lease.
func (w *Worker) stopExpired(before time.Time) {
	for outbox := range w.store.Partitions() {
		if r := w.serving(outbox); r != nil && r.leasedAt.Before(before) {
			w.stop(outbox)
		}
	}
}

// releaseAll stops serving all outboxes and releases their leases, so that other workers can
// take over without waiting.
func (w *Worker) releaseAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var failed error
	for outbox := range w.store.Partitions() {
		if w.serving(outbox) == nil {
			continue
		}
		w.stop(outbox)
		if failed == nil {
			failed = w.store.ReleaseLease(ctx, outbox, w.options.Name)
		}
	}
	if failed == nil {
		failed = w.store.UnregisterWorker(ctx, w.options.Name)
	}
	if failed != nil {
		w.log.WarnContext(ctx, "fanout: releasing leases failed, they expire by themselves", "err", failed)
	}
}
