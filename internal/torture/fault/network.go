package fault

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"retwis/internal/faultproxy"
)

// network returns the faults between the service and its Redis. Connections to a cluster take no proxy, because its nodes
// announce their own addresses.
func network() []Fault {
	with := func(name, help string, inject func(context.Context, *faultproxy.Proxy)) Fault {
		return Fault{Name: name, Help: help, Single: true, Inject: func(ctx context.Context, e *Environment) error {
			inject(ctx, e.redis.proxy)
			return nil
		}}
	}
	return []Fault{
		with("drop-replies", "connections break for 3 seconds, each 30th time before a reply arrives", func(ctx context.Context, p *faultproxy.Proxy) {
			p.DropRepliesIf(func(request []byte) bool { return !faultproxy.Handshake(request) && rand.IntN(30) == 0 })
			wait(ctx, 3*time.Second)
			p.DropRepliesIf(nil)
		}),
		with("cut", "all connections to Redis break", func(_ context.Context, p *faultproxy.Proxy) { p.ResetAll() }),
		with("delay", "replies take 100 ms longer for 2 seconds", func(ctx context.Context, p *faultproxy.Proxy) {
			p.Delay(100 * time.Millisecond)
			wait(ctx, 2*time.Second)
			p.Delay(0)
		}),
		with("black-hole", "nothing passes between the service and Redis for 4 seconds", func(ctx context.Context, p *faultproxy.Proxy) {
			p.BlackHole(true)
			wait(ctx, 4*time.Second)
			p.BlackHole(false)
		}),
		with("silent-pubsub", "connections stay open, and published messages do not arrive", func(ctx context.Context, p *faultproxy.Proxy) {
			p.DropPushes()
			wait(ctx, 5*time.Second)
		}),
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
