package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/sleep"
)

// Run does what the options say and reports what came of it. When ctx ends it stops early and
// reports what there is. Errors that another server or other options mend are [ErrSetup].
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	c, err := newClient(o.URL, max(o.Clients, setupParallel), o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	defer c.http.CloseIdleConnections()
	limits, err := c.limits(ctx)
	if err != nil && !errors.Is(err, errLimited) {
		return nil, fmt.Errorf("%w: no server answers at %s: %w: start one with retwis serve, or name another with --url", ErrSetup, o.URL, err)
	}
	if err != nil || limits != "" {
		return nil, fmt.Errorf("%w: the server limits how much clients may do (%s): %s", ErrSetup, cmp.Or(limits, "now to nothing"), HowToLift)
	}
	accounts, err := c.accounts(ctx, o)
	if err != nil {
		return nil, err
	}
	w := newWorld(c, accounts)
	followers := len(accounts) - 1
	authors := accounts
	if o.Scenario == Fanout {
		var author account
		if author, followers, err = c.star(ctx, o, accounts); err != nil {
			return nil, err
		}
		authors = []account{author}
	} else if err := c.connect(ctx, o, accounts); err != nil {
		return nil, err
	}

	var sockets []*websocket.Conn
	if o.watches() {
		if sockets, err = openSubscriptions(ctx, o, accounts); err != nil {
			return nil, err
		}
	}

	began := time.Now()
	r := newRecorder(began.Add(o.Warmup), o.watches())
	running, end := context.WithDeadline(ctx, began.Add(o.Warmup+o.Duration))
	defer end()
	stopTicking := r.ticking(o.Progress)
	report := &Report{Version: reportVersion, StartedAt: began.UTC(), Settings: settingsOf(o, followers)}
	if o.watches() {
		a := newAudience(r, sockets)
		drive(running, o, began, func(ctx context.Context, i int, due time.Time, _ *rand.Rand) {
			a.post(ctx, w, authors[i%len(authors)], due)
		})
		a.finish(ctx)
		report.Missing = a.missing()
	} else {
		operations := operationsOf(o.Scenario)
		drive(running, o, began, func(ctx context.Context, i int, due time.Time, random *rand.Rand) {
			op := pick(operations, random)
			r.operation(op.name, due, op.do(ctx, w, accounts[i%len(accounts)], random))
		})
	}
	ended := time.Now()
	stopTicking()
	r.fill(report, ended)
	return report, nil
}

// drive has clients do something until ctx ends: at the rate of the options, or without one
// as soon as the last was done. What has begun is carried out.
func drive(ctx context.Context, o Options, began time.Time, do func(ctx context.Context, i int, due time.Time, random *rand.Rand)) {
	clients := o.Clients
	if o.watches() {
		clients = min(clients, 64) // those who post; the others listen
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				due := time.Now()
				if o.Rate > 0 {
					due = began.Add(time.Duration(float64(i) / o.Rate * float64(time.Second)))
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

// waitUntil reports whether an instant came before the end of ctx.
func waitUntil(ctx context.Context, instant time.Time) bool {
	if deadline, ok := ctx.Deadline(); ok && !instant.Before(deadline) {
		<-ctx.Done()
		return false
	}
	return sleep.For(ctx, time.Until(instant)) == nil
}

// ticking ends an interval every second, until the function returned is called, which ends
// the last one.
func (r *recorder) ticking(progress func(Interval, Totals)) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	step := func(now time.Time) {
		if i, totals := r.tick(now); progress != nil {
			progress(i, totals)
		}
	}
	wg.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-ticker.C:
				step(now)
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
		step(time.Now())
	}
}
