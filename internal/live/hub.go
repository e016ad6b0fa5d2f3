// Package live delivers timeline events to the subscriptions of this process. Its [Hub]
// receives the messages that partitions publish, and each subscriber receives every event
// of its timeline once and in order, or an explicit reset.
//
// # Position chain
//
// Published messages are hints; the list of a timeline is authoritative. A position is an
// epoch, the post at the head of the list, and the last change. Each timeline with a
// subscriber in this process has one feed, and all its subscribers are at the position of
// the feed. A push message names the post that headed the list before the push. If that is
// the feed's position, the message continues the chain: the feed sends the post and advances
// by one. Otherwise messages were lost, and the feed catches up: it reads all events after
// its position from the list and sends them. If the epoch has changed, or the list no longer
// holds the position, the events are unrecoverable and the feed sends a reset.
//
// A feed also catches up whenever messages may have been lost without a visible gap: after a
// new subscription of the channel, after a lapse of presence, after an overflow of the
// inbox, and periodically.
//
// For a subscriber that resumes, the hub reads the events after its cursor and sends them as
// a replay. The replay ends at the position of the feed; from there the subscriber receives
// live events.
//
// The design follows Centrifugo (https://centrifugal.dev/docs/server/history_and_recovery): a
// position is an epoch and an offset, and a client that cannot recover is reset. Here
// the history is the timeline's own list, and the offset is the id of its head.
//
// # Locks
//
// Goroutines acquire locks in the order hub, partition, tail, then subscription or catch-up queue.
// They hold no lock during I/O or while a subscriber reads.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"retwis/internal/cost"
	"retwis/internal/pubsub"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Hub serves the subscriptions of one process.
type Hub struct {
	source  Source
	log     *slog.Logger
	options Options
	counts  counters
	queue   catchUpQueue
	reads   sharedReads
	recent  recentPosts

	counting counting

	presenceCalls chan struct{} // has an element for each call that changes presence

	wg sync.WaitGroup // the goroutines of the hub and the open subscriptions

	started chan struct{} // closed when Run begins

	mu         sync.Mutex
	running    context.Context // context of Run; nil unless Run runs
	partitions map[int]*partition
}

// retryAfter is the number of seconds after which a client should subscribe again.
const retryAfter = 1

var errNotRunning = fmt.Errorf("live hub is not running: %w", retwis.Unavailable(retryAfter))

// NewHub returns a hub that serves subscriptions while [Hub.Run] runs.
func NewHub(source Source, log *slog.Logger, options Options) *Hub {
	h := &Hub{source: source, log: log, options: options.withDefaults(), started: make(chan struct{}), partitions: map[int]*partition{}, presenceCalls: make(chan struct{}, presenceCalls)}
	h.counts.register(options.Metrics)
	return h
}

// Run serves subscriptions until ctx is done, then closes the open ones. A hub runs once.
func (h *Hub) Run(ctx context.Context) error {
	if err := h.start(ctx); err != nil {
		return err
	}
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

func (h *Hub) start(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.started:
		return errors.New("live hub has already run")
	default:
	}
	h.running = ctx
	close(h.started)
	return nil
}

// Ready returns nil if at least percent % of the partitions in use have a subscribed channel that recently delivered a
// message or a probe.
func (h *Hub) Ready(percent int) error {
	all := h.snapshot()
	var reasons []error
	for _, p := range all {
		if err := p.ready(); err != nil {
			reasons = append(reasons, err)
		}
	}
	if (len(all)-len(reasons))*100 >= len(all)*percent {
		return nil
	}
	return errors.Join(reasons...)
}

// partition returns the running partition of a timeline, and the context of the hub. It
// starts the partition at the first call. A process accepts connections while its hub
// starts: partition waits for that until ctx is done.
func (h *Hub) partition(ctx context.Context, timeline retwis.TimelineID) (*partition, context.Context, error) {
	select {
	case <-h.started:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	index := h.source.PartitionOf(timeline)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil || h.running.Err() != nil {
		return nil, nil, errNotRunning
	}
	life := h.running
	p := h.partitions[index]
	if p == nil {
		p = newPartition(life, h, index)
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

// callContext returns a context that bounds one call to the source by CallTimeout.
func (h *Hub) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, h.options.CallTimeout)
}

// meter returns a meter of reads that the hub makes for the subscribers of a client, or of several. They wait for the shares of that.
func (h *Hub) meter(client ratelimit.Client) *cost.Meter {
	return cost.NewMeter(cost.Options{Client: client, Shares: h.options.Shares})
}

func (h *Hub) readSince(ctx context.Context, position retwis.TimelinePosition) (pubsub.Replay, error) {
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	return h.source.EventsSince(ctx, position)
}

// readPosition returns the position and the marker of a timeline, as a replay without events.
func (h *Hub) readPosition(ctx context.Context, timeline retwis.TimelineID) (pubsub.Replay, error) {
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	at, marker, err := h.source.CurrentPosition(ctx, timeline)
	return pubsub.Replay{Position: at, Marker: marker}, err
}

// shown returns the posts that entries show, as [Source.Shown] does.
func (h *Hub) shown(ctx context.Context, entries []retwis.Element) ([]*retwis.Post, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	posts, err := h.source.Shown(ctx, entries)
	if err == nil && len(posts) != len(entries) {
		err = fmt.Errorf("requested %d posts, received %d", len(entries), len(posts))
	}
	return posts, err
}

// backoff returns the pause after a number of consecutive failures: exponential up to 5 s,
// with jitter.
func backoff(failures int) time.Duration {
	longest := min(100*time.Millisecond<<min(failures, 6), 5*time.Second)
	return longest/2 + rand.N(longest/2)
}
