package cost

import (
	"context"
	"math"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// Gates bound how much of a resource one client uses, one network, and all together. Users of one network share a half, so that many
// accounts of one sender leave the rest to others.
type Gates struct {
	clients  *fair.Gate[ratelimit.Key]
	networks *fair.Gate[ratelimit.Key] // of the whole capacity
	free     int                       // what a client may use without waiting for its network, and without counting there, or one request of any size
	freeOf   *fair.Gate[ratelimit.Key] // of what all clients of a network use in this way, for [Gates.tryOwn]; nil: nothing is free there
}

// NewGates returns gates of a capacity, of which one client may use a part.
func NewGates(capacity, ofClient int) Gates {
	return Gates{
		clients:  fair.NewGate[ratelimit.Key](math.MaxInt, ofClient),
		networks: fair.NewGate[ratelimit.Key](capacity, max(ofClient, capacity/2)),
	}
}

// pass waits until a client may use n more, at most its share. The returned function has to be called when it is done. A client
// waits for its own share first, so that it does not hold a part of that of its network meanwhile.
func (g Gates) pass(ctx context.Context, client ratelimit.Client, n int) (leave func(), err error) {
	return g.passAs(ctx, client, n, 1)
}

// passAs is like pass, but n counts several times for the network.
func (g Gates) passAs(ctx context.Context, client ratelimit.Client, n, times int) (leave func(), err error) {
	n = min(n, g.clients.Share())
	key, network := client.Key(), NetworkOf(client)
	if err := g.clients.Acquire(ctx, key, n); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	if used := g.clients.UsedBy(key); g.free > 0 && (used <= g.free || used == n) {
		return func() { g.clients.Release(key, n) }, nil
	}
	ofNetwork := min(n*times, g.networks.Share())
	if err := g.networks.Acquire(ctx, network, ofNetwork); err != nil {
		g.clients.Release(key, n)
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func() {
		g.networks.Release(network, ofNetwork)
		g.clients.Release(key, n)
	}, nil
}

// try counts n more of a client. It reports false, and counts nothing, if that exceeds the capacity or a share.
func (g Gates) try(client ratelimit.Client, n int) bool {
	if !g.clients.Try(client.Key(), n) {
		return false
	}
	if !g.networks.Try(NetworkOf(client), n) {
		g.clients.Release(client.Key(), n)
		return false
	}
	return true
}

// tryOwn is like try, but what a client uses up to the free part counts only beside that of others of its network, up to a bound of these parts: nobody
// else can use that up. The returned function undoes it.
func (g Gates) tryOwn(client ratelimit.Client, n int) (release func(), ok bool) {
	key := client.Key()
	if !g.clients.Try(key, n) {
		return func() {}, false
	}
	network := NetworkOf(client)
	shared := []*fair.Gate[ratelimit.Key]{g.networks}
	if g.freeOf != nil && g.clients.UsedBy(key) <= g.free {
		shared = []*fair.Gate[ratelimit.Key]{g.freeOf, g.networks}
	}
	for _, gate := range shared {
		if gate.Try(network, n) {
			return func() {
				gate.Release(network, n)
				g.clients.Release(key, n)
			}, true
		}
	}
	g.clients.Release(key, n)
	return func() {}, false
}

// release undoes try.
func (g Gates) release(client ratelimit.Client, n int) {
	g.networks.Release(NetworkOf(client), n)
	g.clients.Release(client.Key(), n)
}

// account returns an account of a part of a client.
func (g Gates) account(client ratelimit.Client) *fair.Account[ratelimit.Key] {
	return fair.NewAccount(g.clients, client.Key(), fair.NewAccount(g.networks, NetworkOf(client), nil))
}

// Used returns how much is in use.
func (g Gates) Used() int { return g.clients.Used() }

// NetworkOf returns the key of a client's network, or of the client if it has no address.
func NetworkOf(client ratelimit.Client) ratelimit.Key {
	if !client.Address.IsValid() {
		return client.Key()
	}
	return client.NetworkKey()
}
