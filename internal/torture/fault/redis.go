package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/faultproxy"
	"retwis/internal/redisproc"
)

const (
	clusterMasters = 3
	clusterSlots   = 16384
)

// redisGroup is one Redis, or a cluster of three masters with a replica each.
type redisGroup struct {
	options Options
	binary  string
	nodes   []*redisNode
	clock   *clock // nil if the clock of the system is used
}

type redisNode struct {
	address string
	dir     string
	args    []string
	process *redisproc.Process
	client  *redis.Client
	proxy   *faultproxy.Proxy // through which the service connects
}

// proxyHost is the address of the proxies. The nodes of a cluster announce it as their host name, so that clients connect
// to the proxy at the port of a node, and the nodes to each other without proxies. All of 127.0.0.0/8 is the loopback
// interface on Linux.
const proxyHost = "127.0.0.2"

func startRedis(ctx context.Context, o Options) (_ *redisGroup, err error) {
	g := &redisGroup{options: o}
	if g.binary, err = redisproc.Find(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if o.Clock {
		if g.clock, err = newClock(ctx, o.Dir); err != nil {
			return nil, err
		}
	}
	count := 1
	if o.Cluster {
		count = 2 * clusterMasters
	}
	for range count {
		n, err := g.newNode(ctx)
		if err != nil {
			return nil, err
		}
		g.nodes = append(g.nodes, n)
		if err := g.start(ctx, n); err != nil {
			return nil, err
		}
	}
	if !o.Cluster {
		return g, nil
	}
	args := []string{"--cluster", "create"}
	for _, n := range g.nodes {
		args = append(args, n.address)
	}
	if err := cli(ctx, append(args, "--cluster-replicas", "1", "--cluster-yes")...); err != nil {
		return nil, err
	}
	return g, g.awaitWhole(ctx)
}

func (g *redisGroup) newNode(ctx context.Context) (*redisNode, error) {
	address, err := freeAddress(ctx)
	for err == nil && busPort(address) > 65535 {
		address, err = freeAddress(ctx)
	}
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	dir := filepath.Join(g.options.Dir, "redis-"+port)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of a Redis: %w", err)
	}
	args := []string{
		"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", g.options.Fsync,
		"--maxmemory-policy", "noeviction", "--zset-max-listpack-entries", "1024",
		"--hash-max-listpack-value", "1024", "--list-max-listpack-size", "100",
		"--loglevel", "warning", "--logfile", filepath.Join(dir, "log"), "--enable-debug-command", "local",
	}
	if g.options.Cluster {
		args = append(args, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no",
			"--cluster-config-file", "nodes.conf", "--cluster-announce-hostname", proxyHost, "--cluster-preferred-endpoint-type", "hostname")
	}
	proxy, err := faultproxy.NewAt(net.JoinHostPort(proxyHost, port), "tcp", address)
	if err != nil {
		return nil, err
	}
	return &redisNode{
		address: address, dir: dir, args: args, proxy: proxy,
		client: redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, ContextTimeoutEnabled: true, ReadTimeout: 3 * time.Second}),
	}, nil
}

// busPort is the port of the cluster bus of a node.
func busPort(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n + 10000
}

// start runs a node and waits until it answers.
func (g *redisGroup) start(ctx context.Context, n *redisNode) (err error) {
	// Redis reports a file at its size limit as a full disk if the signal for it is ignored.
	args := append([]string{"-c", `trap "" XFSZ; exec "$0" "$@"`, g.binary}, n.args...)
	o := redisproc.Options{Args: args, DeathSignal: syscall.SIGKILL}
	if g.clock != nil {
		o.Env = g.clock.environment()
	}
	if n.process, err = redisproc.Start("/bin/sh", o); err != nil {
		return err
	}
	return n.process.Ready(ctx, "tcp", n.address, nil)
}

func (g *redisGroup) url() string {
	urls := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		urls[i] = n.proxy.URL()
	}
	return strings.Join(urls, ",")
}

// master returns one of the masters.
func (g *redisGroup) master(ctx context.Context) (*redisNode, error) {
	for _, i := range rand.Perm(len(g.nodes)) {
		if role, err := g.nodes[i].role(ctx); err == nil && role == "master" {
			return g.nodes[i], nil
		}
	}
	return nil, errors.New("no Redis is a master")
}

func (n *redisNode) role(ctx context.Context) (string, error) {
	role, err := n.client.Do(ctx, "ROLE").Slice()
	if err != nil {
		return "", err
	}
	name, _ := role[0].(string)
	return name, nil
}

// replicaOf returns the replica of a master.
func (g *redisGroup) replicaOf(ctx context.Context, master *redisNode) (*redisNode, error) {
	_, port, _ := net.SplitHostPort(master.address)
	for _, n := range g.nodes {
		info, err := n.client.Info(ctx, "replication").Result()
		if err == nil && strings.Contains(info, "role:slave") && strings.Contains(info, "master_port:"+port+"\r") {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no Redis is a replica of %s", master.address)
}

// signal sends a signal to the node's process.
func (n *redisNode) signal(s os.Signal) error { return n.process.Signal(s.(syscall.Signal)) }

// awaitTakeOver waits until the running nodes agree that all slots are served. If faults move the clock, it waits for 20 seconds
// at most: after a clock went back, the masters do not notice for the length of that step that another one ended, so that
// no replica takes over.
func (g *redisGroup) awaitTakeOver(ctx context.Context) error {
	limit := time.Minute
	if g.options.Clock {
		limit = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := g.await(ctx, "all slots are served", isServed, true)
	if g.options.Clock {
		return nil
	}
	return err
}

// isServed reports whether all slots are served in the view of a node.
func isServed(info string) bool {
	return strings.Contains(info, "cluster_slots_ok:"+strconv.Itoa(clusterSlots)) && strings.Contains(info, "cluster_state:ok")
}

// awaitWhole waits until all nodes run and agree, and each replica is in sync.
func (g *redisGroup) awaitWhole(ctx context.Context) error {
	if !g.options.Cluster {
		return nil
	}
	whole := func(info string) bool {
		return isServed(info) && strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(g.nodes)))
	}
	err := g.await(ctx, "the cluster is whole", whole, false)
	if err != nil && ctx.Err() == nil {
		// Redis may lose a slot in a failover after a reshard: the new master does not serve it, and the others believe that it does.
		// On a busy machine a repair fails while a node seems to be unreachable. The cluster may have become whole nevertheless.
		var repair error
		for _, n := range g.nodes {
			repair = errors.Join(repair, cli(ctx, "--cluster", "fix", n.address, "--cluster-yes"))
		}
		if err = g.await(ctx, "the cluster is whole after its repair", whole, false); err != nil {
			err = errors.Join(err, repair)
		}
	}
	if err != nil {
		return err
	}
	return poll(ctx, "the replicas are in step", func() bool {
		replicas := 0
		for _, n := range g.nodes {
			info, err := n.client.Info(ctx, "replication").Result()
			if err != nil {
				return false
			}
			if strings.Contains(info, "role:slave") {
				if !strings.Contains(info, "master_link_status:up") {
					return false
				}
				replicas++
			}
		}
		return replicas == len(g.nodes)-clusterMasters
	})
}

// closeSlots ends the moves of slots that a node has begun. It retries a repair that fails, for two minutes, because a node of a busy machine
// may believe that the cluster is down.
func (g *redisGroup) closeSlots(ctx context.Context, n *redisNode) error {
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if err := g.awaitWhole(ctx); err != nil {
			return err
		}
		err := cli(ctx, "--cluster", "fix", n.address, "--cluster-yes")
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Second)
	}
}

func (g *redisGroup) await(ctx context.Context, what string, is func(info string) bool, skipDead bool) error {
	return poll(ctx, what, func() bool {
		for _, n := range g.nodes {
			info, err := n.client.ClusterInfo(ctx).Result()
			if err != nil && skipDead {
				continue
			}
			if err != nil || !is(info) {
				return false
			}
		}
		return true
	})
}

func (g *redisGroup) close() {
	for _, n := range g.nodes {
		n.proxy.Close()
		if n.process != nil {
			_ = n.process.Kill()
		}
		_ = n.client.Close()
	}
}

// cli runs redis-cli, for cluster operations with many steps.
func cli(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "redis-cli", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("redis-cli %s: %w: …%s", strings.Join(args, " "), err, out[max(0, len(out)-500):])
	}
	return nil
}

// poll waits until a condition holds.
func poll(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("timed out waiting until %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
