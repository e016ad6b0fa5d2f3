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

// shared is the cluster of the test binary: a start takes seconds, so one serves
// many tests.
var shared struct { //nolint:gochecknoglobals // only a test binary has it, and its tests meet nowhere else
	main bool // set by Main before any test runs

	use   sync.Mutex // held by the test that uses the group
	group *Group     // nil before its first use
}

// Main runs the tests, stops what they shared, and fails when goroutines are left.
// A package that uses [SharedCluster] calls it from its TestMain.
func Main(m *testing.M) {
	shared.main = true
	LeaveNothing(sharing{m},
		// A pool that found its server dead dials once a second, and sees a second late that
		// it was closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
	)
}

// LeaveNothing runs tests, and fails when goroutines are left that no option allows. They have
// a minute to end: the half second that goleak gives them is short on a busy machine.
func LeaveNothing(tests goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(unhurried{tests, options}, options...)
}

// unhurried waits for the goroutines of tests that have passed.
type unhurried struct {
	goleak.TestingM
	options []goleak.Option
}

func (u unhurried) Run() int {
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

// sharing stops what the tests shared once they have run.
type sharing struct{ m *testing.M }

func (s sharing) Run() int {
	code := s.m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the shared cluster: %v\n", err)
		return max(code, 1)
	}
	return code
}

// SharedCluster returns an empty cluster of three masters that later tests use
// too. The test has it for itself until it ends; others wait for that, so a test
// takes it once and not from a subtest as well. A cluster that a test has damaged
// is replaced.
func SharedCluster(t testing.TB) *Group {
	t.Helper()
	if !shared.main {
		t.Fatal("a package that uses SharedCluster needs a TestMain that calls redistest.Main")
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

// empty forgets all data and scripts.
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
