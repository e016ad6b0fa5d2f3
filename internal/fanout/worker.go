// Package fanout is the worker: it carries the entries of the outboxes to the timelines
// they concern. Each outbox is served by one process at a time, by a lease; but nothing
// hangs on that, since every step says at its target how far it has come.
package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/retwis"
)

// Store is what the worker needs of the database.
type Store interface {
	Partitions() int
	PublicPartition() int
	PartitionOf(retwis.TimelineID) int
	PartitionOfUser(retwis.UserID) int

	RegisterWorker(ctx context.Context, worker string, ttl time.Duration) (int, error)
	UnregisterWorker(ctx context.Context, worker string) error
	AcquireLease(ctx context.Context, outbox int, worker string, ttl time.Duration) (bool, error)
	ReleaseLease(ctx context.Context, outbox int, worker string) error

	ResumeOutbox(ctx context.Context, outbox int) error
	ReadOutbox(ctx context.Context, outbox int, after string, count int, block time.Duration) ([]retwis.OutboxEntry, error)
	Reach(ctx context.Context, authors []retwis.UserID) ([]retwis.Reach, error)
	Deliver(ctx context.Context, deliveries []retwis.Delivery) []retwis.Delivered
	Note(ctx context.Context, outbox int, at retwis.Place) error
	Confirm(ctx context.Context, outbox int, first string, places []retwis.Place, wait bool) (lost []int, again bool, err error)
	Advance(ctx context.Context, outbox int, upTo string, in []int) error
	TrimOutbox(ctx context.Context, outbox int, upTo string) error
	Bury(ctx context.Context, e retwis.OutboxEntry, reason string) error

	Backfill(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID, score int64) error
	Purge(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID) error
	RecountFollowers(ctx context.Context, partition int, author retwis.UserID) error
	Unlist(ctx context.Context, list retwis.ListID) (bool, error)
	EndLateEdge(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID) (bool, error)
	SettleRegistration(ctx context.Context, id retwis.UserID, name string) (bool, error)
	Repair(ctx context.Context, author retwis.UserID, partition int, to retwis.Audience, after int64) (int64, bool, error)

	LeaveStep(ctx context.Context, id retwis.UserID, step int64) error
	BeginPart(ctx context.Context, id retwis.UserID) (bool, error)
	PartFollowing(ctx context.Context, id retwis.UserID) (bool, error)
	PartFollowers(ctx context.Context, author retwis.UserID, partition int, to retwis.Audience) (bool, error)
	CarryOnPart(ctx context.Context, id retwis.UserID, step int64) error
	Forget(ctx context.Context, id retwis.UserID) error
}

// Options tune a worker. Zero values take the defaults.
type Options struct {
	Name  string        // unique among workers; a random one by default
	Lease time.Duration // how long the outboxes of a dead worker wait for another one, 5 s
	Pause time.Duration // after each round of calls, 0; tests of faults use it to have time to strike
	Log   *slog.Logger

	// Insist is how long entries stay in the outbox while no replica says that it has what was
	// carried out: longer than a failover takes, 30 s.
	Insist time.Duration

	Metrics prometheus.Registerer // where to register those of the worker; nil nowhere
	Tracer  trace.Tracer          // for entries whose makers were recorded; nil traces nothing
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = fmt.Sprintf("%016x", rand.Uint64())
	}
	if o.Lease == 0 {
		o.Lease = 5 * time.Second
	}
	if o.Insist == 0 {
		o.Insist = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Worker serves a fair share of the outboxes, and more when other workers die.
type Worker struct {
	store   Store
	options Options
	log     *slog.Logger
	counts  counts

	mu      sync.Mutex
	running map[int]*run // by outbox
}

// run is an outbox being served.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	held   time.Time // when the lease was last taken
}

// New returns a worker that does nothing until it is run.
func New(store Store, options Options) *Worker {
	o := options.withDefaults()
	w := &Worker{store: store, options: o, log: o.Log.With("worker", o.Name), running: map[int]*run{}}
	w.register(o.Metrics)
	return w
}

// Stats are counts since the worker was made.
type Stats struct {
	Pushed  int64 // posts put on timelines
	Calls   int64 // calls that carried an entry on
	Moved   int64 // calls that found the entry elsewhere than expected, and did nothing
	Entries int64 // entries carried out
	Buried  int64 // entries given up
	Retries int64 // failures of entries
}

type counts struct{ pushed, calls, moved, entries, buried, retries atomic.Int64 }

// Stats returns what the worker has done so far.
func (w *Worker) Stats() Stats {
	return Stats{
		Pushed:  w.counts.pushed.Load(),
		Calls:   w.counts.calls.Load(),
		Moved:   w.counts.moved.Load(),
		Entries: w.counts.entries.Load(),
		Buried:  w.counts.buried.Load(),
		Retries: w.counts.retries.Load(),
	}
}

// Run works until ctx is done, then hands its outboxes back. Entries cut short are
// carried on by whoever serves the outbox next.
func (w *Worker) Run(ctx context.Context) error {
	ticker := time.NewTicker(w.options.Lease / 4)
	defer ticker.Stop()
	defer w.handBack()
	for {
		if err := w.share(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "sharing the outboxes failed: trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// share renews the leases it has, gives up what is more than its share, and takes what
// is free up to its share.
func (w *Worker) share(ctx context.Context) error {
	workers, err := w.store.RegisterWorker(ctx, w.options.Name, w.options.Lease)
	if err != nil {
		w.drop(time.Now().Add(-w.options.Lease))
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
				w.log.InfoContext(ctx, "another worker has taken an outbox over", "outbox", outbox)
				w.stop(outbox)
			case w.serves() > fair:
				w.stop(outbox)
				if err := w.store.ReleaseLease(ctx, outbox, w.options.Name); err != nil {
					failed = err
				}
			default:
				r.held = time.Now()
			}
		}
	}
	for _, outbox := range order {
		if w.serving(outbox) != nil || w.serves() >= fair {
			continue
		}
		held, err := w.store.AcquireLease(ctx, outbox, w.options.Name, w.options.Lease)
		if err != nil {
			failed = err
		} else if held {
			w.start(ctx, outbox)
		}
	}
	w.drop(time.Now().Add(-w.options.Lease))
	return failed
}

func (w *Worker) serving(outbox int) *run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[outbox]
}

func (w *Worker) serves() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running)
}

func (w *Worker) start(ctx context.Context, outbox int) {
	ctx, cancel := context.WithCancel(ctx)
	r := &run{cancel: cancel, done: make(chan struct{}), held: time.Now()}
	w.mu.Lock()
	w.running[outbox] = r
	w.mu.Unlock()
	go func() {
		defer close(r.done)
		mendBelow := ""
		for ctx.Err() == nil {
			r := newRunner(w, outbox, mendBelow)
			r.run(ctx)
			mendBelow = r.stale
		}
	}()
}

// stop ends the serving of an outbox and waits for it.
func (w *Worker) stop(outbox int) {
	w.mu.Lock()
	r := w.running[outbox]
	delete(w.running, outbox)
	w.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.done
	}
}

// drop stops serving outboxes whose lease was last taken before an instant: another
// worker may have it by now.
func (w *Worker) drop(before time.Time) {
	for outbox := range w.store.Partitions() {
		if r := w.serving(outbox); r != nil && r.held.Before(before) {
			w.stop(outbox)
		}
	}
}

// handBack stops everything and gives the leases up, so that others need not wait.
func (w *Worker) handBack() {
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
		w.log.WarnContext(ctx, "handing the outboxes back failed: the leases lapse by themselves", "err", failed)
	}
}
