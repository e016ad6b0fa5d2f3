package fault

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"retwis/internal/faultproxy"
)

// network returns the faults between the service and its Redis. On a cluster they affect all nodes or one of them, but not
// the connections among the nodes.
func network() []Fault {
	during := func(name, help string, length time.Duration, begin, end func(*faultproxy.Proxy)) Fault {
		return Fault{Name: name, Help: help, Inject: func(ctx context.Context, e *Environment) error {
			nodes := e.redis.nodes
			if rand.IntN(2) == 0 {
				nodes = nodes[rand.IntN(len(nodes)):][:1]
			}
			for _, n := range nodes {
				begin(n.proxy)
			}
			wait(ctx, length)
			for _, n := range nodes {
				end(n.proxy)
			}
			return nil
		}}
	}
	nothing := func(*faultproxy.Proxy) {}
	return []Fault{
		during("drop-replies", "connections break for 3 seconds, each 30th time before a reply arrives", 3*time.Second, func(p *faultproxy.Proxy) {
			p.DropRepliesIf(func(request []byte) bool { return !faultproxy.Handshake(request) && rand.IntN(30) == 0 })
		}, func(p *faultproxy.Proxy) { p.DropRepliesIf(nil) }),
		during("cut", "all connections to Redis break", 0, (*faultproxy.Proxy).ResetAll, nothing),
		during("delay", "replies take 100 ms longer for 2 seconds", 2*time.Second,
			func(p *faultproxy.Proxy) { p.Delay(100 * time.Millisecond) }, func(p *faultproxy.Proxy) { p.Delay(0) }),
		during("black-hole", "nothing passes between the service and Redis for 4 seconds", 4*time.Second,
			func(p *faultproxy.Proxy) { p.BlackHole(true) }, func(p *faultproxy.Proxy) { p.BlackHole(false) }),
		during("silent-pubsub", "connections stay open, and published messages do not arrive", 5*time.Second, (*faultproxy.Proxy).DropPushes, nothing),
	}
}

// wait waits for a time, or until ctx is done.
func wait(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// together injects two faults at once.
func together(ctx context.Context, e *Environment, first, second func(context.Context, *Environment) error) error {
	var group sync.WaitGroup
	var failed [2]error
	for i, inject := range []func(context.Context, *Environment) error{first, second} {
		group.Go(func() { failed[i] = inject(ctx, e) })
	}
	group.Wait()
	if failed[0] != nil {
		return failed[0]
	}
	return failed[1]
}
