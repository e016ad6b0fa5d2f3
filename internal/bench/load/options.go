// Package load drives a running server as its clients do, over HTTP and websockets, and reports how
// long operations take.
//
// In an open loop operations are due at a given rate, however slow the server is. Latency counts from
// when an operation was due, so it includes the wait behind a slow one. In a closed loop each client
// begins an operation when its last one has ended, so a slow server receives fewer requests.
package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say which load to put on which server.
type Options struct {
	URL      string        // of the server, without a path
	Scenario string        // one of [Scenarios]
	Rate     float64       // operations a second in an open loop; 0 for a closed loop
	Clients  int           // concurrent operations, or open subscriptions
	Accounts int           // that share the work
	Author   string        // of the posts in the scenario fanout
	Password string        // of the author
	Warmup   time.Duration // before the measurement
	Duration time.Duration // of the measurement
	Timeout  time.Duration // of one operation

	// Preparing, if set, is called when a part of the set-up begins, with its size. It returns a
	// function that counts what is done, and one that is called at the end.
	Preparing func(what string, total int) (add func(int), end func())

	// Progress, if set, is called once a second with what happened in that second.
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

// Scenarios returns the name and the description of each scenario.
func Scenarios() [][2]string {
	return [][2]string{
		{Read, "read home pages of 20 posts with their authors"},
		{Post, "create posts, each of which is delivered to all accounts of the test"},
		{Mixed, "of 100 operations: " + describeMixture()},
		{Live, "open subscriptions of home timelines, as many as clients, and create posts that reach all of them"},
		{Fanout, "create posts of an author with many followers, and wait until they reach the newest followers"},
	}
}

func describeMixture() string {
	var parts []string
	for _, op := range mixture() {
		parts = append(parts, fmt.Sprintf("%d %s", op.weight, op.name))
	}
	return strings.Join(parts, ", ")
}

// subscribes reports whether a scenario opens subscriptions.
func (o Options) subscribes() bool { return o.Scenario == Live || o.Scenario == Fanout }

// Check returns an error that says which option to change.
func (o Options) Check() error {
	known := slices.ContainsFunc(Scenarios(), func(s [2]string) bool { return s[0] == o.Scenario })
	switch {
	case !known:
		return fmt.Errorf("unknown scenario %q: choose read, post, mixed, live or fanout", o.Scenario)
	case o.Rate != 0 && !(o.Rate >= 0.01 && o.Rate <= 1e6): // NaN is neither
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
	case o.subscribes() && o.Rate == 0:
		return errors.New("a scenario with subscriptions needs a rate of posts above 0")
	}
	return nil
}
