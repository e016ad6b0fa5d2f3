package server

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// retryAfterFile is the time in seconds after which a client without budget should request a file again.
const retryAfterFile = "5"

// priced returns a handler that charges the network of the client for all requests but operations, which charge for
// themselves: files, health checks and preflights. Sessions do not count here, since reading one costs more than a file. Beyond
// the budget, files are refused, and health checks wait. Trusted proxies have no budget, and neither have Unix sockets.
func (s *Server) priced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		s.malformed.handled(r)
		if _, counts := s.networks.keyOf(auth.RequestOf(ctx).Address); !counts {
			next.ServeHTTP(w, r)
			return
		}
		bytes, fields := sizeOf(r)
		if bytes > maxBytes || fields > maxFields {
			s.malformed.refuseLarge(w, r)
		}
		more := cost.Header(len(r.RequestURI)+bytes, fields)
		if s.connects(r) {
			more += cost.PerConnection
		}
		if more > 0 {
			s.opts.Executor.Spend(ctx, more)
		}
		defer func() {
			if more := cost.Trailer(fieldsOf(r.Trailer)); more > 0 {
				s.opts.Executor.Spend(ctx, more)
			}
		}()
		if r.URL.Path == "/graphql" && r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		if err := s.opts.Executor.Admit(ctx); err != nil && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			w.Header().Set("Retry-After", retryAfterFile)
			http.Error(w, "too many requests from your network: wait a few seconds", http.StatusTooManyRequests)
			return
		}
		rec := &recorder{ResponseWriter: w}
		defer func() { s.opts.Executor.Spend(ctx, priceOf(r, rec)) }()
		next.ServeHTTP(rec, r)
	})
}

// connects reports whether a request is the first one on a connection of its client. Those of trusted proxies carry requests of many
// clients. The price of an upgrade to a websocket contains that of its connection.
func (s *Server) connects(r *http.Request) bool {
	conn, ok := r.Context().Value(connKey{}).(*meteredConn)
	if !ok || conn.used {
		return false
	}
	conn.used = true
	_, counts := s.networks.keyOf(httpapi.PeerOf(r))
	upgrades := r.URL.Path == "/graphql" && r.Method == http.MethodGet && websocket.IsWebSocketUpgrade(r)
	return counts && !upgrades
}

// priceOf returns the price of a request that executed no operation. Such a request should have no body.
func priceOf(r *http.Request, response *recorder) int {
	if bytes := httpapi.UnreadBody(r); bytes > 0 {
		return cost.Refused(bytes)
	}
	return cost.File(response.bytes)
}

// sizeOf returns the length of a request's header without its first line, and the number of its fields. net/http has removed spaces around values.
func sizeOf(r *http.Request) (bytes, fields int) {
	bytes = len(r.Host) // which is not part of r.Header
	for name, values := range r.Header {
		for _, value := range values {
			bytes += len(name) + len(value) + len(": \r\n")
		}
	}
	return bytes, fieldsOf(r.Header)
}

// fieldsOf returns the number of fields of a header or a trailer. A name that is announced for a trailer counts, too.
func fieldsOf(h http.Header) int {
	n := 0
	for _, values := range h {
		n += max(len(values), 1)
	}
	return n
}

// malformed are the connections whose request has not reached a handler. A request that never does has cost the reading of
// its header, and a connection without one has cost as much as a small request. net/http answers a malformed request at once, so
// a network without budget that goes on gets no connections for a while.
type malformed struct {
	executor operation.Executor
	networks *connections
	started  sync.Map // of the remote addresses of connections, in the form of [http.Request.RemoteAddr]: whether a request has begun

	mu      sync.Mutex
	blocked map[ratelimit.Key]time.Time // until when
}

// blockTime is how long a network without budget gets no connections after a malformed request.
const blockTime = 5 * time.Second

// Bounds of a header from a network without budget. Browsers send up to 20 fields, and cookies of up to 4 KB each.
const (
	maxFields = 60
	maxBytes  = 8 << 10
)

// handled notes that a request has reached a handler.
func (m *malformed) handled(r *http.Request) { m.started.Delete(r.RemoteAddr) }

// note is the server's hook for changes of connections.
func (m *malformed) note(conn net.Conn, state http.ConnState) {
	if state != http.StateNew && state != http.StateActive && state != http.StateClosed {
		return
	}
	address := httpapi.AddressOf(conn.RemoteAddr())
	key, counts := m.networks.keyOf(address)
	if !counts {
		return
	}
	remote := conn.RemoteAddr().String()
	if state != http.StateClosed {
		m.started.Store(remote, state == http.StateActive)
		return
	}
	begun, unhandled := m.started.LoadAndDelete(remote)
	if !unhandled {
		return
	}
	ctx := from(address)
	if !m.executor.Afford(ctx) {
		m.block(key)
	}
	price := cost.PerRequest // without a request
	if begun == true {
		price = cost.Refused(maxHeader)
	}
	m.executor.Spend(ctx, price)
}

// refuseLarge closes the connection of a request with a large header if its network has no budget, and blocks the network. The header was
// read before the budget could be looked at.
func (m *malformed) refuseLarge(w http.ResponseWriter, r *http.Request) {
	if key, counts := m.networks.keyOf(httpapi.PeerOf(r)); counts && !m.executor.Afford(r.Context()) {
		w.Header().Set("Connection", "close")
		m.block(key)
	}
}

func (m *malformed) block(key ratelimit.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if makeRoom(m.blocked, now) {
		m.blocked[key] = now.Add(blockTime)
	}
}

// accepts reports whether a new connection of a network is served.
func (m *malformed) accepts(conn net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.blocked) == 0 {
		return true
	}
	key, counts := m.networks.keyOf(httpapi.AddressOf(conn.RemoteAddr()))
	until, blocked := m.blocked[key]
	if blocked && time.Now().After(until) {
		delete(m.blocked, key)
		blocked = false
	}
	return !counts || !blocked
}
