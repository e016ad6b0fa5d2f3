package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// slots is the number of hash slots of a cluster.
const slots = 16384

// ClusterOptions configure a cluster.
type ClusterOptions struct {
	Masters     int           // 3 if 0
	Replicas    int           // of each master
	NodeTimeout time.Duration // after which a node counts as failed; default 5 s, or a minute without replicas
	Args        []string      // additional arguments of every redis-server
}

// Group is a running cluster.
type Group struct {
	t     testing.TB
	nodes []*Node // masters first, then their replicas in the same order
	dir   string

	touched bool // whether a test injected a fault or moved slots
}

// Cluster starts a cluster on ports of 127.0.0.1, waits until all nodes report it healthy,
// and stops it when the test ends. A start takes 2 to 3 seconds; tests without faults can use
// [SharedCluster] instead.
func Cluster(t testing.TB, opts ClusterOptions) *Group {
	t.Helper()
	g, err := startCluster(opts)
	if err != nil {
		t.Fatalf("start a cluster: %v", err)
	}
	g.lend(t)
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Errorf("stop the cluster: %v", err)
		}
	})
	return g
}

// URL returns the addresses of all nodes as URLs for redis.ParseURL, separated by commas.
func (g *Group) URL() string {
	urls := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		urls[i] = n.URL()
	}
	return strings.Join(urls, ",")
}

// Nodes returns all nodes: the initial masters, then their replicas.
func (g *Group) Nodes() []*Node { return g.nodes }

// Client returns a client of the cluster. The client is closed when the test ends.
func (g *Group) Client() *redis.ClusterClient {
	g.t.Helper()
	opts := &redis.ClusterOptions{
		ContextTimeoutEnabled:      true,
		ClusterStateReloadInterval: time.Second,
		ReadTimeout:                patience,
		WriteTimeout:               patience,
	}
	for _, n := range g.nodes {
		opts.Addrs = append(opts.Addrs, n.addr)
	}
	client := redis.NewClusterClient(opts)
	g.t.Cleanup(func() { _ = client.Close() })
	return client
}

// lend reports failures of the cluster to the test t from now on.
func (g *Group) lend(t testing.TB) {
	t.Helper()
	g.t = t
	for _, n := range g.nodes {
		n.t = t
	}
}

func startCluster(opts ClusterOptions) (_ *Group, err error) {
	if opts.Masters == 0 {
		opts.Masters = 3
	}
	if opts.NodeTimeout == 0 {
		// On a busy machine a healthy node may be silent for some seconds. The other nodes would
		// declare it failed, and it would refuse requests until they agree again.
		opts.NodeTimeout = time.Minute
		if opts.Replicas > 0 {
			opts.NodeTimeout = 5 * time.Second
		}
	}
	dir, err := os.MkdirTemp("", "rt")
	if err != nil {
		return nil, err
	}
	g := &Group{dir: dir, nodes: make([]*Node, opts.Masters*(1+opts.Replicas))}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()

	var starts errgroup.Group
	for i := range g.nodes {
		starts.Go(func() error {
			n, err := startClusterNode(filepath.Join(dir, strconv.Itoa(i)), opts)
			if err != nil {
				return err
			}
			g.nodes[i] = n
			n.onFault = func() { g.touched = true }
			return nil
		})
	}
	if err := starts.Wait(); err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.join(ctx, opts.Masters); err != nil {
		return nil, err
	}
	if err := g.awaitHealthy(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// startClusterNode starts a node on a free port. Another process may take the port between
// the test of the port and the start, so it tries several ports.
func startClusterNode(dir string, opts ClusterOptions) (*Node, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	for range 20 {
		port, reserved := reservePort()
		n := newNode(dir, append([]string{
			"--port", strconv.Itoa(port),
			"--bind", "127.0.0.1",
			"--cluster-enabled", "yes",
			"--cluster-node-timeout", strconv.FormatInt(opts.NodeTimeout.Milliseconds(), 10),
			"--cluster-require-full-coverage", "no",
			"--cluster-allow-replica-migration", "no", // only the test changes the topology
			"--repl-diskless-sync-delay", "0",
		}, opts.Args...))
		n.network, n.addr = "tcp", loopback(port)
		n.reserved = reserved
		if err = n.start(); err == nil {
			return n, nil
		}
		n.release()
		if !strings.Contains(err.Error(), "already in use") {
			break
		}
	}
	return nil, err
}

// reservePort returns a free port whose cluster bus port, 10000 above it, is free too. Both
// lie below the range that Linux uses for outgoing connections, so that none takes them
// while the node is down. The reservation holds the UDP ports of the same numbers, which
// keeps other tests off until it is closed.
func reservePort() (port int, reserved []io.Closer) {
	for {
		port := 10000 + rand.IntN(12000)
		data, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			continue
		}
		bus, err := net.ListenPacket("udp", loopback(port+10000))
		if err != nil {
			_ = data.Close()
			continue
		}
		if listenable(port) && listenable(port+10000) {
			return port, []io.Closer{data, bus}
		}
		_, _ = data.Close(), bus.Close()
	}
}

func listenable(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// join forms a cluster of independent nodes.
func (g *Group) join(ctx context.Context, masters int) error {
	for i, n := range g.nodes {
		if err := n.control.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return fmt.Errorf("set the configuration epoch of node %d: %w", i, err)
		}
		if i < masters {
			first, last := i*slots/masters, (i+1)*slots/masters-1
			if err := n.control.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", first, last).Err(); err != nil {
				return fmt.Errorf("assign slots to node %d: %w", i, err)
			}
		}
		// Introducing all nodes to each other is faster than waiting for gossip.
		for _, other := range g.nodes[:i] {
			host, port, _ := net.SplitHostPort(other.addr)
			if err := n.control.ClusterMeet(ctx, host, port).Err(); err != nil {
				return fmt.Errorf("introduce node %d to another: %w", i, err)
			}
		}
	}
	if err := g.await(ctx, g.acquainted); err != nil {
		return err
	}
	for i, n := range g.nodes[masters:] {
		master, err := g.nodes[i%masters].control.ClusterMyID(ctx).Result()
		if err != nil {
			return fmt.Errorf("read the id of a master: %w", err)
		}
		if err := n.control.ClusterReplicate(ctx, master).Err(); err != nil {
			return fmt.Errorf("make node %d a replica: %w", masters+i, err)
		}
	}
	return nil
}

// close kills all nodes and removes their files.
func (g *Group) close() error {
	var errs []error
	for _, n := range g.nodes {
		if n != nil {
			errs = append(errs, n.close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(g.dir))...)
}
