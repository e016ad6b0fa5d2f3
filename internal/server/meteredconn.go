package server

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// A read from a socket takes 5 to 60 microseconds, whatever it returns. Without a price for reads, a client that sends its bytes one
// by one would cause a read for each byte, and pay for the bytes only.
const (
	smallRead     = 2048                   // bytes; a read that returns fewer is small
	freeReads     = 20                     // small reads of a connection that are free at once
	firstReads    = 5                      // of a new connection: it pays for one request, whose header may arrive in many pieces
	freeReadEvery = 15 * time.Second       // for each of them, until it is free again: a network may have 10 000 websockets, which answer pings
	readPause     = 100 * time.Millisecond // before the next read, for a network without budget
	slowReads     = 5                      // small reads with such a pause, after which a connection is closed; those of at least manyBytes count less
	manyBytes     = 256                    // of such a read: a body that arrives in packets of the internet has more
	manySlowReads = 400                    // reads of nearly smallRead bytes after which a connection is closed
	firstLine     = 64                     // bytes of the first line of a request without its target, and of fields that net/http removes
)

// meteredConn is a connection whose small reads cost its client some points each, beyond some that are free: the network until a request shows
// which user sends, so that others of the network cannot slow down a user with a budget. While the client has no budget, it reads less
// often, so that one read returns more bytes, and what will be refused takes longer to arrive. A connection that goes on to send little at a time is closed then: each packet wakes the process, whether it reads or not. One goroutine reads.
type meteredConn struct {
	net.Conn
	executor operation.Executor
	shares   *cost.Shares
	networks *connections
	client   atomic.Pointer[sender] // that sends; nil between the requests of a trusted proxy, which has no budget
	used     bool                   // a request has reached a handler; of the goroutine that serves requests

	handled bool       // a handler has the request that arrives; as the rest, of the goroutine that reads
	fields  int        // of the header that arrives
	turn    *cost.Turn // of that header, see [cost.Shares.Decode]

	unknown atomic.Int64 // bytes that have arrived and are not charged yet; below 0 if a body is still to arrive

	free    atomic.Int32 // small reads
	freedAt time.Time
	pause   time.Duration // before the next read
	slow    int           // small reads since the network had a budget, weighted by how small they were, up to manySlowReads
}

func newMeteredConn(conn net.Conn, executor operation.Executor, shares *cost.Shares, networks *connections) *meteredConn {
	c := &meteredConn{Conn: conn, executor: executor, shares: shares, networks: networks, freedAt: time.Now()}
	c.free.Store(firstReads)
	address := httpapi.AddressOf(conn.RemoteAddr())
	c.belongsTo(address)
	if key, counts := networks.keyOf(address); counts {
		every := readEvery
		if !executor.Afford(from(address)) {
			every = readRarely
		}
		c.pause = networks.turns.next(key, every)
	}
	return c
}

// sender is a client that sends on a connection.
type sender struct {
	address netip.Addr
	user    retwis.UserID // of the last request, which may be an operation of a websocket; 0 if it was anonymous, or there was none
}

// context returns the context of what the client causes outside of requests.
func (s *sender) context() context.Context {
	return auth.WithIdentity(from(s.address), auth.Identity{User: s.user})
}

// belongsTo sets the address of the client that sends from now on.
func (c *meteredConn) belongsTo(address netip.Addr) {
	if known := c.client.Load(); known != nil && known.address == address {
		return
	}
	if _, counts := c.networks.keyOf(address); counts {
		c.client.Store(&sender{address: address})
	} else {
		c.client.Store(nil)
	}
}

// identified sets the user who sends.
func (c *meteredConn) identified(user retwis.UserID) {
	if known := c.client.Load(); known != nil && known.user != user {
		c.client.Store(&sender{known.address, user})
	}
}

// identifies returns the function that sets the user who sends on the connection of a request, or nil.
func identifies(r *http.Request) func(retwis.UserID) {
	if conn, ok := r.Context().Value(connKey{}).(*meteredConn); ok {
		return conn.identified
	}
	return nil
}

// Read implements [net.Conn].
func (c *meteredConn) Read(b []byte) (int, error) {
	early := len(b) == 1 // net/http reads one byte of the next request beside the handler
	c.Pause()
	if !early {
		c.turn.End()
	}
	n, err := c.Conn.Read(b)
	c.unknown.Add(int64(n))
	if !early && n > 0 {
		c.AccountFor(n, len(b))
		c.awaitTurn(b[:n])
	}
	return n, err
}

// awaitTurn delays a part of a header until it is the turn of the connection among those of its network, before net/http sees it. One with many
// fields waits longer: if it is malformed, it reaches no handler that could delay it.
func (c *meteredConn) awaitTurn(part []byte) {
	client := c.client.Load()
	if c.handled || client == nil {
		return
	}
	c.turn = c.shares.Decode(from(client.address), ratelimit.Client{Address: client.address})
	if c.fields += fieldsIn(part, c.fields == 0); c.fields > maxFields {
		key, _ := c.networks.keyOf(client.address)
		time.Sleep(c.networks.headers.next(key, readLarge))
	}
}

// fieldsIn returns the number of lines in a part of a header, without a body behind it. net/http ignores empty lines before the first part.
func fieldsIn(part []byte, first bool) int {
	if first {
		part = bytes.TrimLeft(part, "\r\n")
	}
	for _, end := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(part, []byte(end)); i >= 0 {
			part = part[:i]
		}
	}
	return bytes.Count(part, []byte("\n"))
}

// Below implements [wsconn.Metered].
func (c *meteredConn) Below() net.Conn { return c.Conn }

// Pause implements [wsconn.Metered].
func (c *meteredConn) Pause() {
	if c.pause > 0 {
		time.Sleep(c.pause)
		c.pause = 0
	}
}

// AccountFor implements [wsconn.Metered].
func (c *meteredConn) AccountFor(n, room int) {
	switch {
	case 0 < n && n < smallRead && room > 1: // net/http reads one byte of the next request early
		c.readLittle(n)
	case n >= smallRead:
		c.pauseWithoutBudget()
	}
}

// readLittle counts a small read of n bytes.
func (c *meteredConn) readLittle(n int) {
	now := time.Now()
	if more := int(now.Sub(c.freedAt) / freeReadEvery); more > 0 {
		c.addFree(more)
		c.freedAt = now
	}
	if c.free.Load() > 1 && !c.affords() {
		c.free.Store(1)
	}
	if c.free.Load() > 0 {
		c.free.Add(-1)
		return
	}
	c.spend(cost.PerSmallRead)
	c.pauseWithoutBudget()
	switch {
	case c.pause == 0:
		c.slow = 0
		return
	case n < manyBytes:
		c.slow += manySlowReads / slowReads
	default:
		c.slow += smallRead / n
	}
	if c.slow > manySlowReads {
		_ = c.Conn.Close()
	}
}

// chargeUnknown charges the client for bytes that net/http has removed from its requests, if there are many: spaces around values of a
// header, and what divides a body into chunks. All bytes of such a body are among them. Those of a trusted proxy itself are forgotten.
func (c *meteredConn) chargeUnknown() {
	if unknown := c.unknown.Load(); unknown >= cost.FreeBytes {
		c.unknown.Add(-unknown)
		c.spend(cost.Unknown(int(unknown)))
	}
}

// addFree makes small reads free.
func (c *meteredConn) addFree(reads int) {
	c.free.Store(int32(min(int(c.free.Load())+reads, freeReads)))
}

// spend charges the client, if it has a budget.
func (c *meteredConn) spend(points int) {
	if client := c.client.Load(); client != nil {
		c.executor.Spend(client.context(), points)
	}
}

// pauseWithoutBudget delays the next read if the budget of the client is used up.
func (c *meteredConn) pauseWithoutBudget() {
	if !c.affords() {
		c.pause = readPause
	}
}

// affords reports whether the client, if there is one, has a budget left.
func (c *meteredConn) affords() bool {
	client := c.client.Load()
	return client == nil || c.executor.Afford(client.context())
}

// from returns the context of what a network causes outside of requests.
func from(network netip.Addr) context.Context {
	return auth.WithRequest(context.Background(), auth.Request{Address: network})
}

// SyscallConn implements [syscall.Conn], by which websockets are written.
func (c *meteredConn) SyscallConn() (syscall.RawConn, error) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.ENOTSOCK
	}
	return socket.SyscallConn() //nolint:wrapcheck // a method of the connection
}

// CloseWrite ends the stream to the client. net/http calls it, so that a client can read a response before the connection is reset.
func (c *meteredConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	return half.CloseWrite() //nolint:wrapcheck // a method of the connection
}

// connKey is the key of the connection in the context of its requests.
type connKey struct{}

// withConn is the server's hook for the contexts of connections.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// attributed returns a handler that attributes the connection of a request to the client of the request, which differs from the peer
// behind a trusted proxy. A websocket remains attributed to that client.
func attributed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connKey{}).(*meteredConn); ok {
			conn.arrives(r)
			defer conn.chargeUnknown() // of its body
		}
		next.ServeHTTP(w, r)
	})
}

// arrives is called with each request before it is handled.
func (c *meteredConn) arrives(r *http.Request) {
	c.handled, c.fields = true, 0
	c.turn.End()
	c.turn = nil
	c.belongsTo(auth.RequestOf(r.Context()).Address)
	c.addFree(1) // the price of a request contains a read
	bytes, _ := sizeOf(r)
	c.unknown.Add(-int64(firstLine+len(r.RequestURI)+bytes) - max(r.ContentLength, 0)) // charged otherwise
	c.chargeUnknown()
}

// noteSender is the server's hook for changes of connections. Between two requests, it attributes a connection to its peer, and expects
// a header.
func noteSender(conn net.Conn, state http.ConnState) {
	if metered, ok := conn.(*meteredConn); ok && state == http.StateIdle {
		metered.handled = false
		metered.chargeUnknown() // of what the handler has not read
		metered.belongsTo(httpapi.AddressOf(conn.RemoteAddr()))
	}
}
