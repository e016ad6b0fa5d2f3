package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Fault is a failure of a part. Inject returns when the environment has recovered.
type Fault struct {
	Name    string
	Help    string
	Cluster bool // whether it needs a cluster
	Single  bool // whether it needs a single Redis
	Clock   bool // whether it needs a clock that can be moved
	Inject  func(context.Context, *Environment) error
}

// Suits reports whether the fault can be injected into an environment of the options.
func (f Fault) Suits(o Options) bool {
	return (!f.Cluster || o.Cluster) && (!f.Single || !o.Cluster) && (!f.Clock || o.Clock)
}

// All returns the faults.
func All() []Fault {
	worker := func(ctx context.Context, e *Environment) error { return e.replaceWorker(ctx, syscall.SIGKILL) }
	return append([]Fault{
		{Name: "kill-worker", Help: "kill -9 of a worker", Inject: worker},
		{Name: "stop-worker", Help: "SIGTERM of a worker", Inject: func(ctx context.Context, e *Environment) error { return e.replaceWorker(ctx, syscall.SIGTERM) }},
		{Name: "freeze-worker", Help: "a worker stops for twice its lease", Inject: func(ctx context.Context, e *Environment) error {
			return freeze(ctx, e.workers[rand.IntN(len(e.workers))].signal, 2*Lease)
		}},
		{Name: "kill-api", Help: "kill -9 of an API process", Inject: func(ctx context.Context, e *Environment) error { return e.replaceAPI(ctx, syscall.SIGKILL) }},
		{Name: "stop-api", Help: "SIGTERM of an API process, as in a rolling restart", Inject: func(ctx context.Context, e *Environment) error { return e.replaceAPI(ctx, syscall.SIGTERM) }},
		{Name: "freeze-api", Help: "an API process stops for a second", Inject: func(ctx context.Context, e *Environment) error {
			return freeze(ctx, e.apis[rand.IntN(len(e.apis))].signal, time.Second)
		}},
		{Name: "rolling-deploy", Help: "SIGTERM of all processes of the service, one after the other", Inject: rollingDeploy},
		{Name: "kill-redis", Help: "kill -9 and restart of Redis", Single: true, Inject: killRedis},
		{Name: "kill-redis-and-worker", Help: "both at once", Single: true, Inject: func(ctx context.Context, e *Environment) error {
			return together(ctx, e, worker, killRedis)
		}},
		{Name: "freeze-redis", Help: "a master stops for 5 seconds", Inject: func(ctx context.Context, e *Environment) error {
			n, err := e.redis.master(ctx)
			if err != nil {
				return err
			}
			if err := freeze(ctx, n.signal, 5*time.Second); err != nil {
				return err
			}
			return e.redis.awaitWhole(ctx)
		}},
		{Name: "out-of-memory", Help: "a master refuses writes for 2 seconds", Inject: outOfMemory},
		{Name: "break-pubsub", Help: "all pub/sub connections break", Inject: breakPubSub},
		{Name: "kill-master", Help: "kill -9 of a master, failover, return as a replica", Cluster: true, Inject: killMaster},
		{Name: "failover", Help: "a replica takes over from its master", Cluster: true, Inject: failover},
		{Name: "reshard", Help: "up to 1000 slots move between masters", Cluster: true, Inject: reshard},
		{Name: "kill-master-and-worker", Help: "both at once", Cluster: true, Inject: func(ctx context.Context, e *Environment) error {
			return together(ctx, e, worker, killMaster)
		}},
		{Name: "kill-master-behind-lag", Help: "kill -9 of a master whose replica lags by half a second", Cluster: true, Inject: killMasterBehindLag},
		{Name: "disk-full", Help: "the append-only file of a master cannot grow", Inject: diskFull},
		{Name: "clock-step", Help: "the clock of Redis goes an hour ahead or back for 2 seconds", Clock: true, Inject: clockStep},
	}, network()...)
}

func killRedis(ctx context.Context, e *Environment) error {
	n := e.redis.nodes[0]
	if err := n.process.Kill(); err != nil {
		return err
	}
	return e.redis.start(context.WithoutCancel(ctx), n)
}

func clockStep(ctx context.Context, e *Environment) error {
	step := time.Hour
	if rand.IntN(2) == 0 {
		step = -step
	}
	if err := e.redis.clock.set(step); err != nil {
		return err
	}
	wait(ctx, 2*time.Second)
	return e.redis.clock.set(0)
}

func freeze(ctx context.Context, signal func(os.Signal) error, length time.Duration) error {
	if err := signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, length)
	return signal(syscall.SIGCONT)
}

func (e *Environment) replaceWorker(ctx context.Context, sig syscall.Signal) error {
	return e.replaceWorkerAt(ctx, rand.IntN(len(e.workers)), sig)
}

func (e *Environment) replaceWorkerAt(ctx context.Context, i int, sig syscall.Signal) error {
	e.workers[i].end(sig)
	worker, err := e.startWorker(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	e.workers[i] = worker
	return nil
}

// replaceAPI ends an API process and starts another one at the same address.
func (e *Environment) replaceAPI(ctx context.Context, sig syscall.Signal) error {
	return e.replaceAPIAt(ctx, rand.IntN(len(e.apis)), sig)
}

func (e *Environment) replaceAPIAt(ctx context.Context, i int, sig syscall.Signal) error {
	e.apis[i].end(sig)
	api, err := e.startAPI(context.WithoutCancel(ctx), strings.TrimPrefix(e.apis[i].url, "http://"))
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.apis[i] = api
	return nil
}

func rollingDeploy(ctx context.Context, e *Environment) error {
	for i := range e.apis {
		if err := e.replaceAPIAt(ctx, i, syscall.SIGTERM); err != nil {
			return err
		}
	}
	for i := range e.workers {
		if err := e.replaceWorkerAt(ctx, i, syscall.SIGTERM); err != nil {
			return err
		}
	}
	return nil
}

func outOfMemory(ctx context.Context, e *Environment) error {
	n, err := e.redis.master(ctx)
	if err != nil {
		return err
	}
	if err := n.client.ConfigSet(ctx, "maxmemory", "1mb").Err(); err != nil {
		return err
	}
	wait(ctx, 2*time.Second)
	return n.client.ConfigSet(context.WithoutCancel(ctx), "maxmemory", "0").Err()
}

func breakPubSub(ctx context.Context, e *Environment) error {
	for _, n := range e.redis.nodes {
		if err := n.client.ClientKillByFilter(ctx, "TYPE", "pubsub").Err(); err != nil {
			return err
		}
	}
	return nil
}

func killMaster(ctx context.Context, e *Environment) error {
	n, err := e.redis.master(ctx)
	if err != nil {
		return err
	}
	if err := n.process.Kill(); err != nil {
		return err
	}
	return rejoin(ctx, e, n)
}

// rejoin starts a killed master again once another node serves its slots.
func rejoin(ctx context.Context, e *Environment, n *redisNode) error {
	ctx = context.WithoutCancel(ctx)
	if err := e.redis.awaitTakeOver(ctx); err != nil {
		return err
	}
	if err := e.redis.start(ctx, n); err != nil {
		return err
	}
	return e.redis.awaitWhole(ctx)
}

// killMasterBehindLag stops the replica of a master for a while, so that it misses writes, and kills the master.
func killMasterBehindLag(ctx context.Context, e *Environment) error {
	n, err := e.redis.master(ctx)
	if err != nil {
		return err
	}
	replica, err := e.redis.replicaOf(ctx, n)
	if err != nil {
		return err
	}
	if err := replica.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, 500*time.Millisecond)
	if err := n.process.Kill(); err != nil {
		return err
	}
	if err := replica.signal(syscall.SIGCONT); err != nil {
		return err
	}
	return rejoin(ctx, e, n)
}

// failover lets a replica take over from its master. It asks again, because Redis gives up after five seconds, as happens at a master that
// has just been replaced itself.
func failover(ctx context.Context, e *Environment) error {
	for _, i := range rand.Perm(len(e.redis.nodes)) {
		n := e.redis.nodes[i]
		if role, err := n.role(ctx); err != nil || role != "slave" {
			continue
		}
		ctx = context.WithoutCancel(ctx)
		var asked time.Time
		if err := poll(ctx, "the replica is the master", func() bool {
			if time.Since(asked) > 6*time.Second {
				asked = time.Now()
				_ = n.client.Do(ctx, "CLUSTER", "FAILOVER").Err() // the role shows whether it succeeded
			}
			role, err := n.role(ctx)
			return err == nil && role == "master"
		}); err != nil {
			return err
		}
		return e.redis.awaitWhole(ctx)
	}
	return errors.New("no Redis is a replica")
}

// reshard moves slots. On a busy machine a replica may replace one of the two masters meanwhile, which ends the move in the
// middle of a slot. Then redis-cli repairs that slot, and the next attempt moves half as many slots between the current masters:
// a shorter move is more likely to end before the next replacement.
func reshard(ctx context.Context, e *Environment) error {
	ctx = context.WithoutCancel(ctx)
	for slots := 1000; ; slots /= 2 {
		from, err := moveSlots(ctx, e, slots)
		if err == nil {
			return e.redis.awaitWhole(ctx)
		}
		if slots < 10 || from == nil {
			return err
		}
		if err := e.redis.closeSlots(ctx, from); err != nil {
			return err
		}
	}
}

// moveSlots moves slots between two random masters, and returns the first of them.
func moveSlots(ctx context.Context, e *Environment, slots int) (*redisNode, error) {
	from, err := e.redis.master(ctx)
	if err != nil {
		return nil, err
	}
	to := from
	for to == from {
		if to, err = e.redis.master(ctx); err != nil {
			return nil, err
		}
	}
	ids := make([]string, 2)
	for i, n := range []*redisNode{from, to} {
		if ids[i], err = n.client.Do(ctx, "CLUSTER", "MYID").Text(); err != nil {
			return nil, err
		}
	}
	return from, cli(ctx, "--cluster", "reshard", from.address, "--cluster-from", ids[0], "--cluster-to", ids[1], "--cluster-slots", strconv.Itoa(slots), "--cluster-yes")
}
