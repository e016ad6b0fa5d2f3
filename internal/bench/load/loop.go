package load

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"retwis/internal/sleep"
)

// Loop says how clients repeat an operation.
type Loop struct {
	Clients int
	Rate    float64 // operations a second in an open loop; 0 for a closed loop
}

// operate carries out one operation, the i-th of the loop, that was due at an instant.
type operate func(ctx context.Context, i int, due time.Time, random *rand.Rand)

// drive repeats an operation until ctx ends. Operations that have begun are completed. Each client begins one, also if it
// starts after the deadline of ctx, as on a busy machine.
func (l Loop) drive(ctx context.Context, began time.Time, do operate) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range l.Clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			for first := true; ctx.Err() == nil || first && errors.Is(ctx.Err(), context.DeadlineExceeded); first = false {
				i := next.Add(1) - 1
				due := time.Now()
				if l.Rate > 0 {
					due = began.Add(time.Duration(float64(i) / l.Rate * float64(time.Second)))
					if !waitUntil(ctx, due) {
						return
					}
				}
				do(context.WithoutCancel(ctx), int(i), due, random)
			}
		})
	}
	wg.Wait()
}

// waitUntil reports whether an instant came before ctx ended.
func waitUntil(ctx context.Context, instant time.Time) bool {
	if deadline, ok := ctx.Deadline(); ok && !instant.Before(deadline) {
		<-ctx.Done()
		return false
	}
	wait := time.Until(instant)
	return wait <= 0 || sleep.For(ctx, wait) == nil
}

// Result describes operations that all succeeded.
type Result struct {
	Operations int
	Elapsed    time.Duration
	latencies  *hdrhistogram.Histogram
}

// PerSecond returns the rate of operations.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Elapsed.Seconds() }

// P99 returns the 99th percentile of the latencies in milliseconds.
func (r Result) P99() float64 { return milliseconds(r.latencies.ValueAtQuantile(99)) }

// Repeat repeats an operation for a while. It stops at the first error and returns it.
func (l Loop) Repeat(ctx context.Context, duration time.Duration, do func(context.Context) error) (Result, error) {
	began := time.Now()
	running, stop := context.WithDeadline(ctx, began.Add(duration))
	defer stop()
	var mu sync.Mutex
	var failed error
	r := Result{latencies: newHistogram()}
	l.drive(running, began, func(ctx context.Context, _ int, due time.Time, _ *rand.Rand) {
		err := do(ctx)
		latency := time.Since(due)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = cmp.Or(failed, err)
			stop()
			return
		}
		r.Operations++
		record(r.latencies, latency)
	})
	r.Elapsed = time.Since(began)
	if r.Operations == 0 && failed == nil {
		failed = errors.New("no operation completed")
	}
	return r, cmp.Or(ctx.Err(), failed)
}
