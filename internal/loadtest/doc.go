// Package loadtest drives a running server as its clients do, over HTTP and websockets, and
// reports how long what they ask for takes.
//
// In an open loop operations are due at a given rate, whatever the server does; latency
// counts from when an operation was due, so that waiting behind a slow one is part of it. In
// a closed loop each client begins when its last operation has ended, and what a slow server
// keeps from being asked does not show.
package loadtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say what to do to which server.
type Options struct {
	URL      string        // of the server, without a path
	Scenario string        // one of [Scenarios]
	Rate     float64       // operations a second, open loop; 0 for a closed loop
	Clients  int           // operations under way at once, or open subscriptions
	Accounts int           // that share the work
	Author   string        // of the posts in the scenario fanout
	Password string        // of the author
	Warmup   time.Duration // at the start, which does not count
	Duration time.Duration // of what counts
	Timeout  time.Duration // of one operation

	// Preparing, where there is one, is called when a part of the preparations begins, with how
	// much there is to do. The first function returned is called with each bit done, the other
	// one at the end.
	Preparing func(what string, total int) (add func(int), end func())

	// Progress, where there is one, is called once a second with what happened in it.
	Progress func(Interval, Totals)
}

// The scenarios.
const (
	Read   = "read"
	Post   = "post"
	Mixed  = "mixed"
	Live   = "live"
	Fanout = "fanout"
)

// Scenarios are what there is to do, with what it is.
func Scenarios() [][2]string {
	return [][2]string{
		{Read, "home pages of 20 posts with their authors"},
		{Post, "posts, each of which goes to all accounts of the test"},
		{Mixed, "of 100 operations: " + ratio()},
		{Live, "open subscriptions of home timelines (as many as clients), and posts that reach all of them"},
		{Fanout, "posts of an author with many followers, until they reach the last who began to follow"},
	}
}

// ratio says what the scenario mixed consists of.
func ratio() string {
	var parts []string
	for _, op := range mixture() {
		parts = append(parts, fmt.Sprintf("%d %s", op.weight, op.name))
	}
	return strings.Join(parts, ", ")
}

// watches reports whether a scenario has subscriptions.
func (o Options) watches() bool { return o.Scenario == Live || o.Scenario == Fanout }

// Check says what is wrong with the options.
func (o Options) Check() error {
	known := slices.ContainsFunc(Scenarios(), func(s [2]string) bool { return s[0] == o.Scenario })
	switch {
	case !known:
		return fmt.Errorf("there is no scenario %q: choose read, post, mixed, live or fanout", o.Scenario)
	case o.Rate != 0 && !(o.Rate >= 0.01 && o.Rate <= 1e6): // what is not a number neither
		return fmt.Errorf("the rate is %g: choose 0.01 to 1000000 operations a second, or 0 for a closed loop", o.Rate)
	case o.Clients < 1 || o.Clients > 100_000:
		return fmt.Errorf("the number of clients is %d: choose 1 to 100000", o.Clients)
	case o.Accounts < 2 || o.Accounts > 1000:
		return fmt.Errorf("the number of accounts is %d: choose 2 to 1000", o.Accounts)
	case o.Duration < time.Second || o.Duration > 24*time.Hour:
		return fmt.Errorf("the duration is %s: choose 1s to 24h", o.Duration)
	case o.Warmup < 0 || o.Warmup > time.Hour:
		return fmt.Errorf("the warm-up is %s: choose 0s to 1h", o.Warmup)
	case o.Timeout < 10*time.Millisecond || o.Timeout > 5*time.Minute:
		return fmt.Errorf("the timeout is %s: choose 10ms to 5m", o.Timeout)
	case o.watches() && o.Rate == 0:
		return errors.New("with subscriptions posts are made at a rate: choose one above 0")
	}
	return nil
}
