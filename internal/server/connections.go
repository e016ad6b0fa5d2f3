package server

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// maxRefusing bounds the connections that wait for, or receive, the refusal of a network at its limit. Further ones are closed.
const maxRefusing = 16

// connections bounds the open HTTP connections of each network. Trusted proxies have as many as they like; there, the
// requests that run at once count, for the network of their client. Websockets have limits of their own, so they stop
// counting with the upgrade.
type connections struct {
	limiter *clients.Limiter
	proxies httpapi.Proxies
	turns   turns // of the first reads from new connections
	headers turns // of the parts of headers with many fields

	open    atomic.Int64
	refused atomic.Int64
}

func newConnections(perNetwork int, proxies httpapi.Proxies) *connections {
	return &connections{limiter: clients.NewLimiter(-1, perNetwork), proxies: proxies}
}

// keyOf returns the key of a network whose connections or requests count, given one of its addresses. It reports false for
// trusted proxies, and for Unix sockets, which have no address.
func (c *connections) keyOf(address netip.Addr) (ratelimit.Key, bool) {
	if !address.IsValid() || c.proxies.Trust(address) {
		return ratelimit.Key{}, false
	}
	return ratelimit.Key{Network: ratelimit.NetworkOf(address)}, true
}

// maxNetworks bounds the number of networks for which a process keeps a time.
const maxNetworks = 10_000

// makeRoom drops the times that have passed if a set of networks is full. It reports whether there is room for another network.
func makeRoom(times map[ratelimit.Key]time.Time, now time.Time) bool {
	if len(times) >= maxNetworks {
		maps.DeleteFunc(times, func(_ ratelimit.Key, at time.Time) bool { return at.Before(now) })
	}
	return len(times) < maxNetworks
}

// accept counts a connection that was accepted. It reports false if its network has too many.
func (c *connections) accept(conn net.Conn) bool {
	if key, counts := c.keyOf(httpapi.AddressOf(conn.RemoteAddr())); counts && !c.limiter.Acquire(key) {
		c.refused.Add(1)
		return false
	}
	c.open.Add(1)
	return true
}

// note is the server's hook for changes of connections.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.open.Add(-1)
	if key, counts := c.keyOf(httpapi.AddressOf(conn.RemoteAddr())); counts {
		c.limiter.Release(key)
	}
}

// bound returns a handler that bounds the requests behind trusted proxies. A request that is refused pays, too.
func (c *connections) bound(next http.Handler, executor operation.Executor) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer := httpapi.PeerOf(r)
		key, counts := c.keyOf(auth.RequestOf(r.Context()).Address)
		if !counts || !peer.IsValid() || !c.proxies.Trust(peer) {
			next.ServeHTTP(w, r)
			return
		}
		if !c.limiter.Acquire(key) {
			c.refused.Add(1)
			bytes, fields := sizeOf(r)
			executor.Spend(r.Context(), cost.PerRequest+cost.Header(len(r.RequestURI)+bytes, fields))
			refuseNetwork(w, r)
			return
		}
		defer c.limiter.Release(key)
		next.ServeHTTP(w, r)
	})
}

// connectionListener accepts the connections of networks that are not blocked and below their limit. The others go to the overflow.
type connectionListener struct {
	net.Listener
	connections *connections
	malformed   *malformed
	overflow    *overflow
	floods      *floods
	executor    operation.Executor
	shares      *cost.Shares
}

// Accept implements [net.Listener].
func (l *connectionListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // of the listener
		}
		if l.malformed.accepts(conn) && l.connections.accept(conn) {
			boundUnsent(conn)
			return newMeteredConn(conn, l.executor, l.shares, l.connections), nil
		}
		if !l.overflow.take(conn) {
			l.floods.note(ratelimit.NetworkOf(httpapi.AddressOf(conn.RemoteAddr())))
		}
	}
}
