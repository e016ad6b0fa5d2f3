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
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"retwis/internal/retwis"
)

// Hub serves the subscriptions of one process.
type Hub struct {
	source  Source
	log     *slog.Logger
	options Options
	counts  counters
	queue   catchUpQueue

	wg sync.WaitGroup // every goroutine of the hub, and each subscription until it is closed

	mu         sync.Mutex
	started    bool
	running    context.Context // while Run runs; else nil
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
	h.started, h.running = true, ctx
	h.mu.Unlock()
	h.queue.open(func() { h.wg.Go(func() { h.runCatchUps(ctx) }) }, h.options.Parallel)

	<-ctx.Done()
	h.queue.open(nil, 0)

	h.mu.Lock()
	h.running = nil
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
	if h.running == nil || h.running.Err() != nil {
		return nil, nil, errNotRunning
	}
	life := h.running
	p := h.partitions[index]
	if p == nil {
		p = newPartition(h, index)
		h.partitions[index] = p
		h.wg.Go(func() { p.apply(life) })
		h.wg.Go(func() { p.maintain(life) })
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

// callContext bounds the time of a callContext to the source.
func (h *Hub) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, h.options.CallTimeout)
}

func (h *Hub) readSince(ctx context.Context, position retwis.TimelinePosition) (retwis.Replay, error) {
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	return h.source.Since(ctx, position)
}

func (h *Hub) readPosition(ctx context.Context, timeline retwis.TimelineID) (retwis.TimelinePosition, error) {
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	return h.source.Now(ctx, timeline)
}

func (h *Hub) posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := h.callContext(ctx)
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
