// Package redistest gives a test a Redis of its own: one server, or a cluster,
// real ones, and the means to make them fail. It needs a redis-server of version
// 7 or later on the PATH; without one the test fails.
//
// The methods of what it returns end the test when they fail, so they are to be
// called from the goroutine of the test.
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

// patience bounds every wait for a process. It is generous, as a machine that
// runs many tests at once can be slow: what waits that long is broken.
const patience = 60 * time.Second

// find looks for redis-server once in a test binary, as asking for its version
// takes as long as starting it.
var find = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // it never changes
	path, err := redisproc.Find(context.Background())
	if err != nil {
		return "", fmt.Errorf("these tests need redis-server %d or later, as from: apt-get install redis-server: %w",
			redisproc.MinVersion, err)
	}
	return path, nil
})

// Node is a redis-server that belongs to a test.
type Node struct {
	t       testing.TB
	dir     string
	args    []string
	network string // where clients find it: its socket, or its port if it belongs to a cluster
	addr    string
	control *redis.Client // over the socket, whatever happens on the network
	touched func()        // called when the test makes the server fail; may be nil

	reserved []io.Closer // its ports, while it is down too

	mu     sync.Mutex
	proc   *redisproc.Process // nil while it is down
	paused bool
}

// Server starts a server on a unix socket and stops it when the test ends. Its
// data is gone after [Node.Restart] unless the arguments, which are those of
// redis-server, ask for it to be kept, as "--appendonly", "yes" does.
func Server(t testing.TB, extraArgs ...string) *Node {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") // the path of a socket has room for 107 bytes, too few for t.TempDir
	if err != nil {
		t.Fatalf("make a directory for redis-server: %v", err)
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

// newNode describes a server that is reached by its socket and keeps everything
// in the directory, which it owns.
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
		MaxRetries:               -1, // who asks polls
		DialerRetries:            1,
		ReadTimeout:              patience,
		WriteTimeout:             patience,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	return n
}

// URL returns the address of the server in the form that redis.ParseURL reads.
func (n *Node) URL() string {
	if n.network == "unix" {
		return (&url.URL{Scheme: "unix", Path: n.addr, RawQuery: "db=0"}).String()
	}
	return "redis://" + n.addr + "/0"
}

// Client returns a client of the server that lives as long as the test.
func (n *Node) Client() *redis.Client {
	n.t.Helper()
	opts, err := redis.ParseURL(n.URL())
	if err != nil {
		n.t.Fatal(err)
	}
	opts.ContextTimeoutEnabled = true
	opts.ReadTimeout, opts.WriteTimeout = patience, patience // a server that waits for a processor is not down
	client := redis.NewClient(opts)
	n.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Proxy puts a proxy in front of the server.
func (n *Node) Proxy() *FaultProxy {
	n.t.Helper()
	return Proxy(n.t, n.network, n.addr)
}

// Kill ends the server with SIGKILL, as a crash does.
func (n *Node) Kill() {
	n.t.Helper()
	n.touch()
	if err := n.kill(); err != nil {
		n.t.Fatal(err)
	}
}

// Stop ends the server in good order.
func (n *Node) Stop() {
	n.t.Helper()
	n.touch()
	if err := n.stop(); err != nil {
		n.t.Fatal(err)
	}
}

// Start starts a server again that was stopped or killed, and waits until it answers.
func (n *Node) Start() {
	n.t.Helper()
	if err := n.start(); err != nil {
		n.t.Fatal(err)
	}
}

// Restart stops the server in good order and starts it again.
func (n *Node) Restart() {
	n.t.Helper()
	n.Stop()
	n.Start()
}

// Pause freezes the server: it keeps its connections and answers none. When Pause
// returns the server is frozen.
func (n *Node) Pause() {
	n.t.Helper()
	n.touch()
	if err := n.pause(); err != nil {
		n.t.Fatal(err)
	}
}

// Resume lets a paused server go on.
func (n *Node) Resume() {
	n.t.Helper()
	if err := n.resume(); err != nil {
		n.t.Fatal(err)
	}
}

// touch notes that the server is not what it was at the start.
func (n *Node) touch() {
	if n.touched != nil {
		n.touched()
	}
}

func (n *Node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		return fmt.Errorf("start %s: it is running", n.URL())
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
		_ = proc.Kill() // the error that counts is why it was not ready
		return err
	}
	n.proc, n.paused = proc, false
	return nil
}

func (n *Node) stop() error {
	if err := n.resume(); err != nil { // a frozen process handles no signal
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
		return fmt.Errorf("pause %s: it is down", n.URL())
	}
	if err := n.proc.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	n.paused = true
	return poll(func() error {
		if !frozen(n.proc.PID()) {
			return fmt.Errorf("pause %s: it still runs", n.URL())
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

// up reports whether the server runs and is not frozen.
func (n *Node) up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc != nil && !n.paused
}

// close ends the server for good. What it stored is of no use to anybody, so it
// gets no time to save it.
func (n *Node) close() error {
	err := n.kill()
	n.release()
	if err != nil {
		return err
	}
	return os.RemoveAll(n.dir)
}

// release gives up what the node has besides its process.
func (n *Node) release() {
	_ = n.control.Close() // nothing is in flight
	for _, port := range n.reserved {
		_ = port.Close()
	}
}

// frozen reports whether a process is stopped by a signal. Where there is no
// /proc to tell, it is taken for granted.
func frozen(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") T ")
}

// poll calls ready until it succeeds, and returns its last error when it has not
// after a long time.
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
