// Package fanout delivers the entries of outboxes to timelines. A [Worker] is the consumer of
// the outboxes, and a [Sweeper] evicts timelines that nobody reads.
//
// # Leases
//
// A worker serves an outbox under a lease, and workers rebalance the leases among each other.
// Leases prevent duplicate work; correctness does not depend on them. Each delivery stores
// its progress at its target, atomically with its effect. A repeated, late or concurrent
// delivery therefore finds that its work is done and changes nothing.
//
// # Likes
//
// Likes are not entries of an outbox, so that a popular post does not delay other posts. The partition of a user who
// likes a post records that the number of the post's likers there has changed. Beside the runners, one goroutine
// stores these numbers at the partitions of the posts.
//
// # Round loop
//
// A runner serves one outbox:
//
//  1. A goroutine reads the entries in order. It waits until a replica has them: a failover
//     must not lose a post that was delivered. The runner queues each entry under its ordering
//     key. Entries with the same key are processed in order; other entries are independent.
//  2. A round makes up to 8 delivery calls, and beside operations no more than may be in flight at once, for the entries at the heads of the queues, in short
//     pipelines between which Redis serves other connections. The networks that were served least recently come first, and so do the users
//     of a network. Each entry first has a bounded share of the round, and large authors use the rest, so that a large author does not delay
//     small ones. This is round-robin scheduling with a quantum per queue (Shreedhar and Varghese, "Efficient Fair Queueing
//     using Deficit Round Robin", 1995), with the call limit in place of a deficit counter.
//  3. Entries that need several exchanges with the database, such as back-fills, repairs and
//     account deletions, run as tasks concurrently with the rounds.
//  4. An entry that is rejected five times moves to the dead-letter queue. After any
//     other error the runner retries without limit, with exponential back-off.
//  5. Completed entries stay in the outbox until a trim. The trim verifies that the deliveries
//     are durable, advances the watermark at every partition that the entries went to, and
//     then removes the entries.
//
// A failover may lose deliveries or bring trimmed entries back. The trim detects both. The
// runner then delivers lost entries again, or a new runner rereads the outbox. Posts are then
// merged into the lists by id, since newer posts of their authors may already be there.
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

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// Outbox is the store interface for the entries of outboxes and for their deliveries.
type Outbox interface {
	Leases
	Load
	Targets

	ResumeOutbox(ctx context.Context, outboxID int) error
	ReadOutbox(ctx context.Context, outboxID int, after string, count int, block time.Duration) ([]outbox.Entry, error)
	VerifyEntries(ctx context.Context, outboxID int, upTo string) error
	Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result
	MarkDone(ctx context.Context, outboxID int, at outbox.Target) error
	VerifyDurable(ctx context.Context, outboxID int, first string, targets []outbox.Target) (lost []int, reappeared bool, err error)
	AdvanceWatermark(ctx context.Context, outboxID int, upTo string, targets map[int]int, entries int) error
	TrimOutbox(ctx context.Context, outboxID int, upTo string) error
	AddDeadLetter(ctx context.Context, e outbox.Entry, reason string) error
}

// Leases distribute the outboxes among workers.
type Leases interface {
	RegisterWorker(ctx context.Context, worker string, ttl time.Duration) (int, error)
	UnregisterWorker(ctx context.Context, worker string) error
	FreeLeases(ctx context.Context, outboxIDs []int) ([]int, error)
	AcquireLeases(ctx context.Context, outboxIDs []int, worker string, ttl time.Duration) []outbox.Lease
	ReleaseLease(ctx context.Context, outboxID int, worker string) error
}

// Load bounds what a worker asks of the database at once.
type Load interface {
	// Masters returns the number of masters that hold partitions.
	Masters(context.Context) (int, error)
	// BesideOperations reports whether operations have exchanges with the database now. Trims then rest.
	BesideOperations() bool
	// WorkAtOnce returns how much work of deliveries may be in flight beside operations, in pushes. A round then has no more.
	WorkAtOnce() int
	// RestAfterSearches returns for how long the reposts of a network have to rest after so many lists were searched for them.
	RestAfterSearches(lists int) time.Duration
	// SetCrowded notes whether one network caused most of many entries that wait. Less work is then in flight beside operations of others.
	SetCrowded(crowded bool)
}

// Targets tell where entries are delivered.
type Targets interface {
	Partitions() int
	PublicPartition() int
	PartitionOf(retwis.TimelineID) int
	PartitionOfUser(retwis.UserID) int
	PartitionOfPost(retwis.PostID) int
	// Exists reports whether a post exists and was not deleted.
	Exists(ctx context.Context, post retwis.PostID) (bool, error)
	AuthorPartitions(ctx context.Context, authors []retwis.UserID) ([]outbox.AuthorPartitions, error)
	// LikePartitions returns for each post the partitions that may hold likers of it.
	LikePartitions(ctx context.Context, posts []retwis.PostID) ([][]int, error)
	// Reposters returns for each post the users who have reposted it, the newest reposts.
	Reposters(ctx context.Context, posts []retwis.PostID) ([]outbox.Reposters, error)
}

// Tasks executes the entries that are not deliveries.
type Tasks interface {
	Backfill(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID, score int64) error
	Purge(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID) error
	RecountFollowers(ctx context.Context, partition int, author retwis.UserID) error
	DeleteListStep(ctx context.Context, list retwis.ListID) (bool, error)
	RemoveOrphanEdge(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID) (bool, error)
	FinishRegistration(ctx context.Context, id retwis.UserID, name string) (bool, error)
	RepairTimelines(ctx context.Context, author retwis.UserID, partition int, to outbox.TargetKind, after int64) (int64, bool, error)

	DeleteAccountStep(ctx context.Context, id retwis.UserID, step int64) error
	BeginDetach(ctx context.Context, id retwis.UserID) (bool, error)
	DetachLikes(ctx context.Context, id retwis.UserID) (bool, error)
	DetachFollowing(ctx context.Context, id retwis.UserID) (bool, error)
	DetachFollowers(ctx context.Context, author retwis.UserID, partition int, to outbox.TargetKind) (bool, error)
	ContinueDetach(ctx context.Context, id retwis.UserID, step int64) error
	FinishAccountDeletion(ctx context.Context, id retwis.UserID) error

	// CountLikes stores the numbers of likers that changed in partitions, and removes the likes of deleted posts.
	CountLikes(ctx context.Context, partitions []int) (more bool, err error)
}

// database is what a worker operates on.
type database struct {
	Outbox
	Tasks
}

// Options configure a [Worker]. Zero values select the defaults.
type Options struct {
	Name  string        // unique among workers; random by default
	Lease time.Duration // time within which other workers take over from a dead one; 5 s by default
	Pause time.Duration // pause after each round; 0 by default; fault tests use it to slow down deliveries
	Log   *slog.Logger

	Metrics prometheus.Registerer // registry of the worker's metrics; nil registers none
	Tracer  trace.Tracer          // tracer of entries whose creation was traced; nil traces none
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = fmt.Sprintf("%016x", rand.Uint64())
	}
	if o.Lease == 0 {
		o.Lease = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Worker serves a fair share of the outboxes, and takes over those of failed workers.
type Worker struct {
	store   database
	options Options
	log     *slog.Logger
	counts  counts
	held    atomic.Int64 // entries of all outboxes in memory
	running atomic.Int64 // tasks of all outboxes
	waiting waiting
	turns   *turns
	trims   trimRests

	workers int // that were registered at the last successful registration

	mu     sync.Mutex
	served map[int]*servedOutbox // by outbox
}

// New returns a worker. [Worker.Run] starts it.
func New(outbox Outbox, tasks Tasks, options Options) *Worker {
	o := options.withDefaults()
	w := &Worker{store: database{outbox, tasks}, options: o, log: o.Log.With("worker", o.Name), workers: 1, turns: newTurns(), served: map[int]*servedOutbox{}}
	w.register(o.Metrics)
	return w
}

// Behind reports whether so many entries wait that those who cause more have to slow down.
func (w *Worker) Behind() bool { return w.waiting.entries.Load() > manyWaiting }

// waiting counts what the worker has read and not finished.
type waiting struct {
	entries   atomic.Int64
	deletions atomic.Int64 // of posts
	step      atomic.Bool  // of an account deletion runs

	mu   sync.Mutex
	of   map[string]int // entries by the network that caused them
	most string         // the network that had most when it last had more
}

// add counts an entry that begins or ends to wait.
func (c *waiting) add(w *workItem, n int) {
	c.entries.Add(int64(n))
	if w.isDeletion() {
		c.deletions.Add(int64(n))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	network := w.actor.Network
	if c.of[network] += n; c.of[network] == 0 {
		delete(c.of, network)
	}
	if c.of[network] > c.of[c.most] {
		c.most = network
	}
}

// crowded reports whether one network caused most of many entries that wait.
func (c *waiting) crowded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[c.most] > max(crowd, int(c.entries.Load())/2)
}

// Run serves outboxes until ctx is done, then releases its leases. The next worker that
// serves an outbox continues its unfinished entries.
func (w *Worker) Run(ctx context.Context) error {
	counting := make(chan struct{})
	go func() {
		defer close(counting)
		w.countLikes(ctx)
	}()
	defer func() { <-counting }()
	ticker := time.NewTicker(w.rebalanceEvery())
	defer ticker.Stop()
	defer w.releaseAll()
	for {
		if err := w.rebalance(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "fanout: rebalancing leases failed, retrying", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
