package loadtest

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnOpenLoopCountsTheWaitBehindASlowOperation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := Options{Rate: 100, Clients: 1, Scenario: Read}
		began := time.Now()
		r := newRecorder(began, false)
		ctx, cancel := context.WithDeadline(t.Context(), began.Add(time.Second))
		defer cancel()
		drive(ctx, o, began, func(_ context.Context, i int, due time.Time, _ *rand.Rand) {
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
			t.Errorf("%d operations in a second at 100 a second", all.Count)
		}
		// The 50 that were due meanwhile waited, the first of them nearly half a second. A loop
		// that counts from when it began them would see one slow operation in a hundred.
		if all.P50 < 2 || all.P90 < 300 || all.Max < 490 {
			t.Errorf("the latencies are p50 %.1f, p90 %.1f, longest %.1f ms", all.P50, all.P90, all.Max)
		}
	})
}

func TestAClosedLoopKeepsItsClientsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var done, running, most atomic.Int64
		drive(ctx, Options{Clients: 4, Scenario: Read}, time.Now(), func(context.Context, int, time.Time, *rand.Rand) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(10 * time.Millisecond)
			running.Add(-1)
			done.Add(1)
		})
		if done.Load() < 396 || done.Load() > 404 || most.Load() != 4 {
			t.Errorf("%d operations of 10 ms by 4 clients in a second, %d at once", done.Load(), most.Load())
		}
	})
}

func TestWhatIsDueDuringTheWarmUpDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Add(time.Second)
		r := newRecorder(start, false)
		r.operation("reads", time.Now(), nil)
		if i, totals := r.tick(time.Now()); !totals.Warming || i.Operations != 0 {
			t.Errorf("while it warms up it tells of %+v, %+v", i, totals)
		}
		time.Sleep(1500 * time.Millisecond)
		r.operation("reads", time.Now(), nil)
		r.operation("reads", time.Now(), errLimited)
		if i, totals := r.tick(time.Now()); i.Operations != 2 || totals.Operations != 2 || totals.Limited != 1 || totals.Errors != 1 {
			t.Errorf("afterwards it tells of %+v, %+v", i, totals)
		}
	})
}

func TestTheMixtureIsWhole(t *testing.T) {
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
			t.Errorf("%s are %.1f of 100, want %d", op.name, got, op.weight)
		}
	}
}
