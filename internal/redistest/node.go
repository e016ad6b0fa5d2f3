// Package redistest runs real Redis servers and clusters for tests, injects faults into
// them, and holds the set-up that test packages share. It needs redis-server 7 or later on
// the PATH; without it tests fail.
//
// Methods end the test when they fail. Call them only from the goroutine of the test.
package redistest

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"retwis/internal/redisproc"
)

// patience bounds every wait for a process. It is generous because a machine that runs many
// tests at once can be slow.
const patience = 60 * time.Second

// program is an environment variable that names another program for the tests, such as valkey-server.
const program = "RETWIS_TEST_REDIS"

// find returns the path of the redis-server that all tests use. It searches once per test
// binary, because asking for the version takes as long as a start.
var find = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // it never changes
	if name := os.Getenv(program); name != "" {
		return redisproc.FindProgram(context.Background(), name)
	}
	path, err := redisproc.Find(context.Background())
	if err != nil {
		return "", fmt.Errorf("tests need redis-server %d or later (apt-get install redis-server): %w",
			redisproc.MinVersion, err)
	}
	return path, nil
})

// Node is a redis-server that belongs to a test.
type Node struct {
	t       testing.TB
	dir     string
	args    []string
	network string // for clients: unix, or tcp for a cluster node
	addr    string
	control *redis.Client // over the socket, independent of network faults
	onFault func()        // called before the test injects a fault; may be nil

	reserved []io.Closer // reservations of its ports, also while it is down

	mu     sync.Mutex
	proc   *redisproc.Process // nil while the server is down
	paused bool
}

// Server starts a server on a unix socket and stops it when the test ends. extraArgs are
// arguments of redis-server. [Node.Restart] loses the data unless the arguments enable
// persistence, for example "--appendonly", "yes".
func Server(t testing.TB, extraArgs ...string) *Node {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") // a socket path is limited to 107 bytes, too few for t.TempDir
	if err != nil {
		t.Fatalf("create a directory for redis-server: %v", err)
	}
	n := newNode(dir, append([]string{"--port", "0"}, extraArgs...))
	n.t = t
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Errorf("stop redis-server: %v", err)
		}
	})
	if err := n.start(); err != nil {
		t.Fatal(err)
	}
	return n
}

// newNode returns a node that listens on a socket in dir. The node owns dir and keeps all of
// its files there.
func newNode(dir string, args []string) *Node {
	n := &Node{dir: dir, network: "unix", addr: filepath.Join(dir, "s")}
	n.args = append([]string{
		"--unixsocket", n.addr,
		"--dir", dir,
		"--save", "",
		"--enable-debug-command", "local",
	}, args...)
	n.control = redis.NewClient(&redis.Options{
		Network:                  "unix",
		Addr:                     n.addr,
		MaxRetries:               -1, // callers poll
		DialerRetries:            1,
		ReadTimeout:              patience,
		WriteTimeout:             patience,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	return n
}

// URL returns the address of the server as a URL for redis.ParseURL.
func (n *Node) URL() string {
	if n.network == "unix" {
		return (&url.URL{Scheme: "unix", Path: n.addr, RawQuery: "db=0"}).String()
	}
	return "redis://" + n.addr + "/0"
}

// Client returns a client of the server. The client is closed when the test ends.
func (n *Node) Client() *redis.Client {
	n.t.Helper()
	opts, err := redis.ParseURL(n.URL())
	if err != nil {
		n.t.Fatal(err)
	}
	opts.ContextTimeoutEnabled = true
	opts.ReadTimeout, opts.WriteTimeout = patience, patience // a server waiting for a CPU is not down
	client := redis.NewClient(opts)
	n.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Proxy returns a new proxy in front of the server.
func (n *Node) Proxy() *FaultProxy {
	n.t.Helper()
	return Proxy(n.t, n.network, n.addr)
}

// Kill kills the server with SIGKILL, like a crash.
func (n *Node) Kill() {
	n.t.Helper()
	n.touch()
	if err := n.kill(); err != nil {
		n.t.Fatal(err)
	}
}

// Stop shuts the server down gracefully.
func (n *Node) Stop() {
	n.t.Helper()
	n.touch()
	if err := n.stop(); err != nil {
		n.t.Fatal(err)
	}
}

// Start starts a server that was stopped or killed, and waits until it answers.
func (n *Node) Start() {
	n.t.Helper()
	if err := n.start(); err != nil {
		n.t.Fatal(err)
	}
}

// Restart shuts the server down gracefully and starts it again.
func (n *Node) Restart() {
	n.t.Helper()
	n.Stop()
	n.Start()
}

// Pause stops the server process with SIGSTOP: it keeps its connections but does not answer.
// The process is stopped when Pause returns.
func (n *Node) Pause() {
	n.t.Helper()
	n.touch()
	if err := n.pause(); err != nil {
		n.t.Fatal(err)
	}
}

// Resume continues a paused server.
func (n *Node) Resume() {
	n.t.Helper()
	if err := n.resume(); err != nil {
		n.t.Fatal(err)
	}
}

// touch records that the test injects a fault.
func (n *Node) touch() {
	if n.onFault != nil {
		n.onFault()
	}
}

func (n *Node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		return fmt.Errorf("start %s: already running", n.URL())
	}
	path, err := find()
	if err != nil {
		return err
	}
	proc, err := redisproc.Start(path, redisproc.Options{Args: n.args, DeathSignal: syscall.SIGKILL})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := proc.Ready(ctx, "unix", filepath.Join(n.dir, "s"), nil); err != nil {
		_ = proc.Kill() // the caller needs the error of Ready
		return err
	}
	n.proc, n.paused = proc, false
	return nil
}

func (n *Node) stop() error {
	if err := n.resume(); err != nil { // a paused process handles no signal
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := n.proc.Stop(ctx)
	n.proc = nil
	return err
}

func (n *Node) kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return nil
	}
	err := n.proc.Kill()
	n.proc, n.paused = nil, false
	return err
}

func (n *Node) pause() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil {
		return fmt.Errorf("pause %s: not running", n.URL())
	}
	if err := n.proc.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	n.paused = true
	return poll(func() error {
		if !frozen(n.proc.PID()) {
			return fmt.Errorf("pause %s: still running", n.URL())
		}
		return nil
	})
}

func (n *Node) resume() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil || !n.paused {
		return nil
	}
	n.paused = false
	return n.proc.Signal(syscall.SIGCONT)
}

// up reports whether the server runs and is not paused.
func (n *Node) up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc != nil && !n.paused
}

// close kills the server and removes its files. It does not let the server save its data.
func (n *Node) close() error {
	err := n.kill()
	n.release()
	if err != nil {
		return err
	}
	return os.RemoveAll(n.dir)
}

// release releases everything but the process of the node.
func (n *Node) release() {
	_ = n.control.Close() // nothing is in flight
	for _, port := range n.reserved {
		_ = port.Close()
	}
}

// frozen reports whether a process is stopped by a signal. Without /proc it returns true.
func frozen(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") T ")
}

// poll calls ready until it succeeds. After a long time it returns the last error.
func poll(ready func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
