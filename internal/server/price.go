package server

import (
	"context"
	"net"
	"net/http"
	"sync"

	"retwis/internal/auth"
	"retwis/internal/cost"
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
		if more := cost.Header(headerBytes(r)); more > 0 {
			s.opts.Executor.Spend(ctx, more)
		}
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

// priceOf returns the price of a request that executed no operation. The server also reads a body that no handler has read.
func priceOf(r *http.Request, response *recorder) int {
	switch {
	case r.ContentLength < 0:
		return cost.Refused(httpapi.MaxBody)
	case r.ContentLength > 0:
		return cost.Refused(int(min(r.ContentLength, httpapi.MaxBody)))
	default:
		return cost.File(response.bytes)
	}
}

// headerBytes returns the length of a request's header and path.
func headerBytes(r *http.Request) int {
	n := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(value) + len(": \r\n")
		}
	}
	return n
}

// malformed are the connections whose request has not reached a handler. Requests that never do have cost the reading of a
// header.
type malformed struct {
	executor operation.Executor
	networks *connections
	started  sync.Map // of the remote addresses of connections, in the form of [http.Request.RemoteAddr]
}

// handled notes that a request has reached a handler.
func (m *malformed) handled(r *http.Request) { m.started.Delete(r.RemoteAddr) }

// note is the server's hook for changes of connections.
func (m *malformed) note(conn net.Conn, state http.ConnState) {
	if state != http.StateActive && state != http.StateClosed {
		return
	}
	remote := conn.RemoteAddr().String()
	address := httpapi.AddressOf(conn.RemoteAddr())
	if _, counts := m.networks.keyOf(address); !counts {
		return
	}
	if state == http.StateActive {
		m.started.Store(remote, nil)
		return
	}
	if _, unhandled := m.started.LoadAndDelete(remote); unhandled {
		m.executor.Spend(auth.WithRequest(context.Background(), auth.Request{Address: address}), cost.Refused(maxHeader))
	}
}
