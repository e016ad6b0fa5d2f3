package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOpenLoop_CountsTheWaitBehindASlowOperation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := newRecorder(began, false)
		ctx, cancel := context.WithDeadline(t.Context(), began.Add(time.Second))
		defer cancel()
		Loop{Rate: 100, Clients: 1}.drive(ctx, began, func(_ context.Context, i int, due time.Time, _ *rand.Rand) {
			took := time.Millisecond
			if i == 0 {
				took = 500 * time.Millisecond
			}
			time.Sleep(took)
			r.operation("reads", due, nil)
		})
		var report Report
		r.fill(&report, time.Now())
		all := report.Operations[0]
		if all.Count != 100 {
			t.Errorf("%d operations in a second at 100 per second", all.Count)
		}
		// Fifty operations became due during the slow one, and the first of them waited nearly half a
		// second. Counted from when each began, only one operation in a hundred would be slow.
		if all.P50 < 2 || all.P90 < 300 || all.Max < 490 {
			t.Errorf("the latencies are p50 %.1f, p90 %.1f, max %.1f ms", all.P50, all.P90, all.Max)
		}
	})
}

func TestClosedLoop_KeepsItsClientsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var done, running, most atomic.Int64
		Loop{Clients: 4}.drive(ctx, time.Now(), func(context.Context, int, time.Time, *rand.Rand) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(10 * time.Millisecond)
			running.Add(-1)
			done.Add(1)
		})
		if done.Load() < 396 || done.Load() > 404 || most.Load() != 4 {
			t.Errorf("%d operations of 10 ms by 4 clients in a second, at most %d at once", done.Load(), most.Load())
		}
	})
}

func TestRepeat_ReturnsRateAndPercentile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := Loop{Clients: 2}.Repeat(t.Context(), time.Second, func(context.Context) error {
			time.Sleep(10 * time.Millisecond)
			return nil
		})
		if err != nil || r.PerSecond() < 198 || r.PerSecond() > 202 || r.P99() < 9.9 || r.P99() > 10.1 {
			t.Errorf("%.1f operations per second, p99 %.2f ms, %v", r.PerSecond(), r.P99(), err)
		}
	})
}

func TestRepeat_StopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, broken := time.Now(), errors.New("broken")
		var n atomic.Int64
		_, err := Loop{Clients: 2}.Repeat(t.Context(), time.Hour, func(context.Context) error {
			time.Sleep(10 * time.Millisecond)
			if n.Add(1) > 5 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || time.Since(began) > time.Second {
			t.Errorf("after %s it returns %v", time.Since(began), err)
		}
	})
}

func TestRepeat_ReturnsTheErrorOfItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Loop{Clients: 1}).Repeat(ctx, time.Second, func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("it returns %v", err)
	}
}

func TestRecorder_IgnoresOperationsOfTheWarmUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Add(time.Second)
		r := newRecorder(start, false)
		r.operation("reads", time.Now(), nil)
		if i, totals := r.tick(time.Now()); !totals.WarmingUp || i.Operations != 0 {
			t.Errorf("during the warm-up it reports %+v, %+v", i, totals)
		}
		time.Sleep(1500 * time.Millisecond)
		r.operation("reads", time.Now(), nil)
		r.operation("reads", time.Now(), errLimited)
		if i, totals := r.tick(time.Now()); i.Operations != 2 || totals.Limited != 1 || totals.Errors != 1 {
			t.Errorf("afterwards it reports %+v, %+v", i, totals)
		}
	})
}

func TestMixture_HasItsWeights(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, op := range mixture() {
		sum += op.weight
	}
	if sum != 100 {
		t.Errorf("the weights add up to %d", sum)
	}
	counts := map[string]int{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		counts[pick(mixture(), random).name]++
	}
	for _, op := range mixture() {
		if got := float64(counts[op.name]) / 1000; got < float64(op.weight)*0.9 || got > float64(op.weight)*1.1 {
			t.Errorf("%s: %.1f of 100, want %d", op.name, got, op.weight)
		}
	}
}

func TestLoop_BeginsAnOperationPerClientAfterItsDeadline(t *testing.T) {
	t.Parallel()
	for _, loop := range []Loop{{Clients: 4}, {Clients: 4, Rate: 1000}} {
		began := time.Now().Add(-time.Second)
		ctx, cancel := context.WithDeadline(t.Context(), began.Add(time.Millisecond*10))
		var done atomic.Int64
		loop.drive(ctx, began, func(context.Context, int, time.Time, *rand.Rand) { done.Add(1) })
		cancel()
		if done.Load() != 4 {
			t.Errorf("%+v carried out %d operations, want 4", loop, done.Load())
		}
	}
}
