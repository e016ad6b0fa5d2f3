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

	// ReplicaTimeout is how long entries stay in the outbox while no replica says that it has what was
	// carried out: longer than a failover takes, 30 s.
	ReplicaTimeout time.Duration

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
	if o.ReplicaTimeout == 0 {
		o.ReplicaTimeout = 30 * time.Second
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

	mu     sync.Mutex
	served map[int]*servedOutbox // by outbox
}

// New returns a worker that does nothing until it is run.
func New(store Store, options Options) *Worker {
	o := options.withDefaults()
	w := &Worker{store: store, options: o, log: o.Log.With("worker", o.Name), served: map[int]*servedOutbox{}}
	w.register(o.Metrics)
	return w
}

// Run works until ctx is done, then hands its outboxes back. Entries cut short are
// carried on by whoever serves the outbox next.
func (w *Worker) Run(ctx context.Context) error {
	ticker := time.NewTicker(w.options.Lease / 4)
	defer ticker.Stop()
	defer w.releaseAll()
	for {
		if err := w.rebalance(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "sharing the outboxes failed: trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
