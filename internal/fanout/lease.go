package fanout

import (
	"context"
	"math/rand/v2"
	"time"
)

// servedOutbox is an outbox that the worker serves.
type servedOutbox struct {
	cancel   context.CancelFunc
	done     chan struct{}
	leasedAt time.Time // when the lease was last acquired or renewed
}

// rebalance renews the leases of the worker, releases those above its fair share, and
// acquires free leases up to its fair share: the number of outboxes divided by the number of
// workers, rounded up.
func (w *Worker) rebalance(ctx context.Context) error {
	workers, err := w.store.RegisterWorker(ctx, w.options.Name, w.options.Lease)
	if err != nil {
		w.stopExpired(time.Now().Add(-w.options.Lease))
		return err
	}
	outboxes := w.store.Partitions()
	fair := (outboxes + workers - 1) / max(workers, 1)
	order := rand.Perm(outboxes)

	var failed error
	for _, outbox := range order {
		if r := w.serving(outbox); r != nil {
			held, err := w.store.AcquireLease(ctx, outbox, w.options.Name, w.options.Lease)
			switch {
			case err != nil:
				failed = err
			case !held:
				w.log.InfoContext(ctx, "fanout: another worker took over the outbox", "outbox", outbox)
				w.stop(outbox)
			case w.servedCount() > fair:
				w.stop(outbox)
				if err := w.store.ReleaseLease(ctx, outbox, w.options.Name); err != nil {
					failed = err
				}
			default:
				r.leasedAt = time.Now()
			}
		}
	}
	for _, outbox := range order {
		if w.serving(outbox) != nil || w.servedCount() >= fair {
			continue
		}
		held, err := w.store.AcquireLease(ctx, outbox, w.options.Name, w.options.Lease)
		if err != nil {
			failed = err
		} else if held {
			w.start(ctx, outbox)
		}
	}
	w.stopExpired(time.Now().Add(-w.options.Lease))
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
