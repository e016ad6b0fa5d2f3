package redistest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// shared is the cluster of the test binary. A start takes seconds, so tests share one.
var shared struct { //nolint:gochecknoglobals // tests of a test binary share nothing else
	main bool // set by Main before any test runs

	use   sync.Mutex // held by the test that uses the group
	group *Group     // nil before the first use
}

// Main runs the tests, stops the shared cluster, and fails if goroutines leaked. A package
// that uses [SharedCluster] calls it from TestMain.
func Main(m *testing.M) {
	shared.main = true
	VerifyNoLeaks(sharing{m},
		// The connection pool of a dead server dials once a second, and notices up to a second
		// late that the pool was closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
	)
}

// VerifyNoLeaks runs tests and fails if goroutines leaked that no option allows. Goroutines have
// a minute to end; the half second of goleak is too short on a busy machine.
func VerifyNoLeaks(tests goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(leakWaiter{tests, options}, options...)
}

// leakWaiter waits for the goroutines of the tests after they passed.
type leakWaiter struct {
	goleak.TestingM
	options []goleak.Option
}

func (u leakWaiter) Run() int {
	code := u.TestingM.Run()
	if code != 0 {
		return code
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if goleak.Find(u.options...) == nil {
			break
		}
	}
	return code
}

// sharing stops the shared cluster after the tests.
type sharing struct{ m *testing.M }

func (s sharing) Run() int {
	code := s.m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the shared cluster: %v\n", err)
		return max(code, 1)
	}
	return code
}

// SharedCluster returns an empty cluster of three masters that the tests of a package use in
// turn. The test has exclusive use until it ends, and other tests wait; so a test must not
// call SharedCluster again in a subtest. A cluster with injected faults is replaced.
func SharedCluster(t testing.TB) *Group {
	t.Helper()
	if !shared.main {
		t.Fatal("SharedCluster needs a TestMain that calls redistest.Main")
	}
	shared.use.Lock()
	t.Cleanup(shared.use.Unlock)

	if shared.group != nil && shared.group.touched {
		if err := closeShared(); err != nil {
			t.Fatalf("stop a damaged cluster: %v", err)
		}
	}
	if shared.group == nil {
		g, err := startCluster(ClusterOptions{Masters: 3})
		if err != nil {
			t.Fatalf("start a cluster: %v", err)
		}
		shared.group = g
	}
	shared.group.lend(t)
	if err := shared.group.empty(); err != nil {
		t.Fatalf("empty the cluster: %v", err)
	}
	return shared.group
}

func closeShared() error {
	g := shared.group
	if g == nil {
		return nil
	}
	shared.group = nil
	return g.close()
}

// empty deletes all data and scripts.
func (g *Group) empty() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, n := range g.nodes {
		if err := n.control.FlushAll(ctx).Err(); err != nil {
			return fmt.Errorf("FLUSHALL of %s: %w", n.addr, err)
		}
		if err := n.control.ScriptFlush(ctx).Err(); err != nil {
			return fmt.Errorf("SCRIPT FLUSH of %s: %w", n.addr, err)
		}
	}
	return nil
}
