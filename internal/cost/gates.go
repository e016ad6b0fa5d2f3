package cost

import (
	"context"
	"math"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// gates bound how much of a resource one client uses, one network, and all together. Users of one network share a half, so that many
// accounts of one sender leave the rest to others.
type gates struct {
	clients  *fair.Gate[ratelimit.Key]
	networks *fair.Gate[ratelimit.Key] // of the whole capacity
}

func newGates(capacity, ofClient int) gates {
	return gates{
		clients:  fair.NewGate[ratelimit.Key](math.MaxInt, ofClient),
		networks: fair.NewGate[ratelimit.Key](capacity, max(ofClient, capacity/2)),
	}
}

// pass waits until a client may use n more, at most its share. The returned function has to be called when it is done. A client
// waits for its own share first, so that it does not hold a part of that of its network meanwhile.
func (g gates) pass(ctx context.Context, client ratelimit.Client, n int) (leave func(), err error) {
	n = min(n, g.clients.Share())
	key, network := client.Key(), client.Key()
	if client.Address.IsValid() {
		network = ratelimit.Key{Network: ratelimit.NetworkOf(client.Address)}
	}
	if err := g.clients.Acquire(ctx, key, n); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	if err := g.networks.Acquire(ctx, network, n); err != nil {
		g.clients.Release(key, n)
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func() {
		g.networks.Release(network, n)
		g.clients.Release(key, n)
	}, nil
}
