package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// maxPosters bounds how many clients create posts in a scenario with subscriptions.
const maxPosters = 64

// Run carries out a load test. When ctx ends, it stops early and reports the figures so far. An error
// that another server or other options avoid is an [ErrSetup].
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	c, err := NewClient(o.URL, max(o.Clients, setupParallel), o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	defer c.Close()
	if err := c.checkLimits(ctx, o.URL); err != nil {
		return nil, err
	}
	accounts, err := c.accounts(ctx, o)
	if err != nil {
		return nil, err
	}
	u := newUsers(c, accounts)
	followers := len(accounts) - 1
	authors := accounts
	if o.Scenario == Fanout {
		var author account
		if author, followers, err = c.followAuthor(ctx, o, accounts); err != nil {
			return nil, err
		}
		authors = []account{author}
	} else if err := c.connect(ctx, o, accounts); err != nil {
		return nil, err
	}
	var sockets []*websocket.Conn
	if o.subscribes() {
		if sockets, err = openSubscriptions(ctx, o, accounts); err != nil {
			return nil, err
		}
	}

	began := time.Now()
	r := newRecorder(began.Add(o.Warmup), o.subscribes())
	running, end := context.WithDeadline(ctx, began.Add(o.Warmup+o.Duration))
	defer end()
	stopTicking := r.startTicking(o.Progress)
	report := &Report{Kind: Kind, Version: reportVersion, StartedAt: began.UTC(), Settings: settingsOf(o, followers)}
	loop := Loop{Clients: o.Clients, Rate: o.Rate}
	if o.subscribes() {
		loop.Clients = min(loop.Clients, maxPosters)
		s := newSubscribers(r, sockets)
		loop.drive(running, began, func(ctx context.Context, i int, due time.Time, _ *rand.Rand) {
			s.post(ctx, c, authors[i%len(authors)], due)
		})
		s.finish(ctx)
		report.Missing = s.missing()
	} else {
		operations := operationsOf(o.Scenario)
		loop.drive(running, began, func(ctx context.Context, i int, due time.Time, random *rand.Rand) {
			op := pick(operations, random)
			r.operation(op.name, due, op.do(ctx, u, accounts[i%len(accounts)], random))
		})
	}
	ended := time.Now()
	stopTicking()
	r.fill(report, ended)
	return report, nil
}

// checkLimits fails if the server cannot be reached, or if it limits clients.
func (c *Client) checkLimits(ctx context.Context, url string) error {
	limits, err := c.limits(ctx)
	if err != nil && !errors.Is(err, errLimited) {
		return fmt.Errorf("%w: no server answers at %s: %w: start one with retwis serve, or name another one with --url", ErrSetup, url, err)
	}
	if err != nil || limits != "" {
		return fmt.Errorf("%w: the server limits its clients (%s): %s", ErrSetup, cmp.Or(limits, "this client already exceeds a limit"), HowToLift)
	}
	return nil
}

// startTicking ends an interval every second. The function that it returns ends the last interval.
func (r *recorder) startTicking(progress func(Interval, Totals)) (stop func()) {
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
