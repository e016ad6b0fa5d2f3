package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"retwis/internal/store/rdb"
)

// probeEvery is the time between probes of one master.
const probeEvery = time.Second

// writableFor is how long a partition counts as writable after its last successful probe.
const writableFor = 5 * time.Second

// Health observes whether the partitions accept durable writes. [Health.Run] updates it.
type Health struct {
	core

	mu      sync.Mutex
	written []time.Time // of the last successful probe, by partition
	reason  error       // of the last failed probe
}

// Run writes to each master every second until ctx is done. If a master has replicas, it waits until one acknowledges the
// write.
func (h *Health) Run(ctx context.Context) error {
	h.mu.Lock()
	h.written = slices.Repeat([]time.Time{time.Now()}, len(h.db.Partitions())) // the database was just opened
	h.mu.Unlock()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		h.probe(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C: // a slow probe skips ticks
		}
	}
}

// probe probes all masters in parallel, and waits for each at most as long as a partition counts as writable.
func (h *Health) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writableFor)
	defer cancel()
	masters, err := h.db.ByMaster(ctx, h.db.Numbers())
	if err != nil {
		h.failed(err)
		h.db.ReloadMasters(ctx)
		return
	}
	var group sync.WaitGroup
	for master, numbers := range masters {
		group.Go(func() {
			if err := h.write(ctx, master, h.db.Partition(numbers[0])); err != nil {
				h.failed(err)
				return
			}
			h.succeeded(numbers)
		})
	}
	group.Wait()
}

// write writes to a partition and, if its master has replicas, waits for one.
func (h *Health) write(ctx context.Context, master rdb.Master, p rdb.Partition) error {
	replicated, err := master.HasReplicas(ctx, p)
	if err != nil {
		return fmt.Errorf("probe partition %d: %w", p.Number, err)
	}
	pipe := master.Pipeline()
	if !replicated {
		set := pipe.Set(ctx, p.Written(), "", time.Second)
		master.Exec(ctx, pipe, set)
		err = set.Err()
	} else {
		set, waited := master.AwaitReplica(ctx, pipe, p)
		master.Exec(ctx, pipe, set, waited)
		if err = set.Err(); err == nil {
			err = rdb.Replicated(waited)
		}
	}
	if err != nil {
		return fmt.Errorf("write to partition %d: %w", p.Number, err)
	}
	return nil
}

func (h *Health) succeeded(partitions []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, number := range partitions {
		h.written[number] = time.Now()
	}
}

func (h *Health) failed(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason = reason
}

// Writable reports of each partition whether it accepted a write within the last 5 seconds. It is empty before
// [Health.Run].
func (h *Health) Writable() []bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]bool, len(h.written))
	for number, at := range h.written {
		all[number] = time.Since(at) < writableFor
	}
	return all
}

// CheckWritable returns an error if fewer than a percentage of the partitions accept writes.
func (h *Health) CheckWritable(percent int) error {
	all := h.Writable()
	writable := 0
	for _, ok := range all {
		if ok {
			writable++
		}
	}
	if writable*100 >= len(all)*percent {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(fmt.Errorf("%d of %d partitions accepted a write within %s, and %d %% have to", writable, len(all), writableFor, percent), h.reason)
}
