package enginetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"retwis/internal/check"
	"retwis/internal/store/inspect"
)

// Check checks the database.
func (e *Engine) Check(options check.Options) check.Report {
	e.T.Helper()
	options.Parallel = 16 // users who act until the checks end make the database grow meanwhile
	report, err := check.Run(e.T.Context(), inspect.New(e.Store), options)
	if err != nil {
		e.T.Fatal(err)
	}
	return report
}

// IsSound fails the test if the check has findings, except for some kinds.
func (e *Engine) IsSound(except ...check.Kind) {
	e.T.Helper()
	report := e.Check(check.Options{})
	for _, kind := range except {
		delete(report.Counts, kind)
	}
	if report.Findings() == 0 && report.Unsettled == 0 {
		return
	}
	e.T.Errorf("check found %v, unsettled %d, want no findings", report.Counts, report.Unsettled)
	for _, f := range report.Examples {
		e.T.Errorf("%s: %s", f.Kind, f.Text)
	}
}

// KeepBusy makes users act until stop is called: 1600 times as fast as they can, then up to 1000 times a second, and the more seldom the more they have
// acted. A database that went on to grow as fast would take the longer to check, and grow the more meanwhile. stop waits for the last action.
func (m *Model) KeepBusy(e *Engine, r *rand.Rand) (stop func()) {
	ctx, cancel := context.WithCancel(e.T.Context())
	const goroutines, fast, pause = 4, 400, 10 * time.Microsecond
	var wg sync.WaitGroup
	for g := range goroutines {
		own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if waiting, err := e.Outbox.OutboxLength(ctx); err == nil && waiting > 200 {
					time.Sleep(time.Millisecond)
					continue
				}
				user := m.People[own.IntN(len(m.People)/goroutines)*goroutines+g]
				if err := m.Act(e, own, user); err != nil {
					e.T.Error(err)
					return
				}
				if n > fast {
					time.Sleep(time.Duration(n) * pause)
				}
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}
