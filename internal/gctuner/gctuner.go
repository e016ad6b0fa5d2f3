// Package gctuner sets the target of the garbage collector by the size of the heap.
package gctuner

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How far the heap may grow between two garbage collections. A page is mostly garbage, so
// a process with little to keep would collect it all the time: four times the room saves a
// fifth of a page's time. A large heap gets the usual room, or the process would take
// several times the memory of its subscribers.
const (
	usualGrowth = 100 // percent
	mostGrowth  = 400
	ampleRoom   = 96 << 20 // bytes
)

// growth returns how far a heap with so many bytes in use may grow, in percent.
func growth(live uint64) int {
	if live == 0 {
		return mostGrowth
	}
	return int(min(max(ampleRoom*100/live, usualGrowth), mostGrowth)) //nolint:gosec // it is bounded
}

// Tune gives the heap its room until ctx is done, unless GOGC does. It fails never.
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
			return nil // this version of Go does not tell
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
