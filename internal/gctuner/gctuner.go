// Package gctuner sets the target of the garbage collector by the size of the heap.
package gctuner

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Growth of the heap between two garbage collections. Rendering a page creates mostly garbage,
// so a process with a small heap would collect constantly: a growth of 400 % saves a fifth of
// the time of a page. A large heap has the default growth. Otherwise the process would use
// several times the memory of its subscribers.
const (
	defaultGrowth = 100 // percent
	maxGrowth     = 400
	headroom      = 96 << 20 // bytes
)

// growth returns the growth in percent for a heap with a number of bytes in use.
func growth(live uint64) int {
	if live == 0 {
		return maxGrowth
	}
	return int(min(max(headroom*100/live, defaultGrowth), maxGrowth)) //nolint:gosec // it is bounded
}

// Tune adjusts the growth to the size of the heap until ctx is done. It does nothing if GOGC is set. Its error is nil.
func Tune(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	const heapLive = "/gc/heap/live:bytes"
	sample := []metrics.Sample{{Name: heapLive}}
	now := 0
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return nil // this version of Go has no such metric
		}
		if wanted := growth(sample[0].Value.Uint64()); wanted < now-10 || wanted > now+10 {
			now = wanted
			debug.SetGCPercent(now)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
