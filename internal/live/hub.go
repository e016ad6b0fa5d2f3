// Package live is the hub between what the partitions announce and the open
// subscriptions of this process.
//
// Messages are hints, a timeline's list is the truth. Each timeline with a
// subscriber here has one feed, which knows where in the list its subscribers
// stand. A message that continues exactly there is passed on at once; whatever else
// comes makes the feed read what it missed from the list. So does a subscription
// that was made again, presence that may have lapsed, and, for each feed now and
// then, the clock.
//
// Locks are taken in the order hub, partition, subscription or work; none is held
// during I/O or while a reader is waited for.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/retwis"
)

// Source is where timelines are held and where news of them comes from.
type Source interface {
	PartitionOf(retwis.TimelineID) int
	// Since returns everything that happened to a timeline since a position, in one step.
	Since(context.Context, retwis.TimelinePosition) (retwis.Replay, error)
	Now(context.Context, retwis.TimelineID) (retwis.TimelinePosition, error)
	// Enter asks for messages about timelines of one partition, until ttl has passed.
	Enter(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) error
	Leave(ctx context.Context, node string, timelines []retwis.TimelineID) error
	// Listen hands over the messages of a partition in the order they were sent, until
	// ctx is done. It says LiveJoined whenever some may have been lost.
	Listen(ctx context.Context, node string, partition int, handle func(retwis.LiveMessage)) error
	// Probe sends a message to who listens as this node to a partition.
	Probe(ctx context.Context, node string, partition int) error
	// Posts returns nil for posts that are deleted.
	Posts(context.Context, []retwis.PostID) ([]*retwis.Post, error)
}

// Options say how a [Hub] works. Zero fields but Node have a default.
type Options struct {
	Node        string        // names this process among those on the same database
	PresenceTTL time.Duration // how long the database believes that this process listens; 1 min
	QueueLength int           // events a subscriber may be behind before it is cut off; 1024
	CheckEvery  time.Duration // how often, about, a feed compares itself with its list; 45 s
	ProbeEvery  time.Duration // how long a channel may be silent before it is tried; 15 s
	ProbeWait   time.Duration // for what was sent to try a channel; 5 s
	Linger      time.Duration // how long a partition is listened to after its last subscriber left; 30 s
	CallTimeout time.Duration // of one call to the source; 5 s
	JoinTimeout time.Duration // of Subscribe; 15 s
	Parallel    int           // reads of feeds that go on at once; 16

	Metrics prometheus.Registerer // where to register those of the hub; nil nowhere
}

func (o Options) withDefaults() Options {
	o.PresenceTTL = cmp.Or(o.PresenceTTL, time.Minute)
	o.QueueLength = cmp.Or(o.QueueLength, 1024)
	o.CheckEvery = cmp.Or(o.CheckEvery, 45*time.Second)
	o.ProbeEvery = cmp.Or(o.ProbeEvery, 15*time.Second)
	o.ProbeWait = cmp.Or(o.ProbeWait, 5*time.Second)
	o.Linger = cmp.Or(o.Linger, 30*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, 5*time.Second)
	o.JoinTimeout = cmp.Or(o.JoinTimeout, 15*time.Second)
	o.Parallel = cmp.Or(o.Parallel, 16)
	return o
}

// Hub serves the subscriptions of one process.
type Hub struct {
	source  Source
	log     *slog.Logger
	options Options
	counts  counters
	work    work

	wg sync.WaitGroup // every goroutine of the hub, and each subscription until it is closed

	mu         sync.Mutex
	started    bool
	life       context.Context // while Run runs; else nil
	partitions map[int]*partition
}

var errNotRunning = errors.New("the live hub is not running")

// NewHub returns a hub that serves subscriptions while [Hub.Run] runs.
func NewHub(source Source, log *slog.Logger, options Options) *Hub {
	h := &Hub{source: source, log: log, options: options.withDefaults(), partitions: map[int]*partition{}}
	h.counts.register(options.Metrics)
	return h
}

// Run serves subscriptions until ctx is done, then closes those that are open. It can
// run once.
func (h *Hub) Run(ctx context.Context) error {
	h.mu.Lock()
	if h.started {
		h.mu.Unlock()
		return errors.New("the live hub was started before")
	}
	h.started, h.life = true, ctx
	h.mu.Unlock()
	h.work.open(func() { h.wg.Go(func() { h.workOff(ctx) }) }, h.options.Parallel)

	<-ctx.Done()
	h.work.open(nil, 0)

	h.mu.Lock()
	h.life = nil
	h.mu.Unlock()
	for _, p := range h.snapshot() {
		p.stop()
	}
	h.wg.Wait()
	return nil
}

// Ready returns nil when the channel of every partition in use is subscribed, and has
// delivered something lately.
func (h *Hub) Ready() error {
	for _, p := range h.snapshot() {
		if err := p.ready(); err != nil {
			return err
		}
	}
	return nil
}

// partition returns the partition of a timeline, at work, and the context that ends
// with the hub.
func (h *Hub) partition(timeline retwis.TimelineID) (*partition, context.Context, error) {
	index := h.source.PartitionOf(timeline)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.life == nil || h.life.Err() != nil {
		return nil, nil, errNotRunning
	}
	life := h.life
	p := h.partitions[index]
	if p == nil {
		p = newPartition(h, index)
		h.partitions[index] = p
		h.wg.Go(func() { p.apply(life) })
		h.wg.Go(func() { p.keep(life) })
	}
	return p, life, nil
}

func (h *Hub) snapshot() []*partition {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*partition, 0, len(h.partitions))
	for _, p := range h.partitions {
		all = append(all, p)
	}
	return all
}

// call bounds the time of a call to the source.
func (h *Hub) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, h.options.CallTimeout)
}

func (h *Hub) since(ctx context.Context, position retwis.TimelinePosition) (retwis.Replay, error) {
	ctx, cancel := h.call(ctx)
	defer cancel()
	return h.source.Since(ctx, position)
}

func (h *Hub) now(ctx context.Context, timeline retwis.TimelineID) (retwis.TimelinePosition, error) {
	ctx, cancel := h.call(ctx)
	defer cancel()
	return h.source.Now(ctx, timeline)
}

func (h *Hub) posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := h.call(ctx)
	defer cancel()
	posts, err := h.source.Posts(ctx, ids)
	if err == nil && len(posts) != len(ids) {
		err = fmt.Errorf("asked for %d posts, got %d", len(ids), len(posts))
	}
	return posts, err
}

// backoff returns how long to wait after so many failures in a row.
func backoff(failures int) time.Duration {
	longest := min(100*time.Millisecond<<min(failures, 6), 5*time.Second)
	return longest/2 + rand.N(longest/2)
}
