package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/net/netutil"

	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// overflowDelay is the time after which a request is answered.
const overflowDelay = 250 * time.Millisecond

// overflowRetryAfter is the time in seconds after which a refused client should retry.
const overflowRetryAfter = 5

// overflow serves the connections that another listener accepted and does not serve: it answers health checks, and refuses
// all other requests. It has few connections at once, and closes the others.
type overflow struct {
	most   int
	refuse http.HandlerFunc

	conns  chan net.Conn
	closed chan struct{}
	addr   net.Addr
}

func newOverflow(addr net.Addr, most int, refuse http.HandlerFunc) *overflow {
	return &overflow{most: most, refuse: refuse, conns: make(chan net.Conn, most), closed: make(chan struct{}), addr: addr}
}

// take serves a connection, or closes it if there are too many.
func (o *overflow) take(conn net.Conn) {
	select {
	case o.conns <- conn:
	default:
		_ = conn.Close()
	}
}

// Accept implements [net.Listener].
func (o *overflow) Accept() (net.Conn, error) {
	select {
	case conn := <-o.conns:
		return conn, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It is called once.
func (o *overflow) Close() error {
	close(o.closed)
	return nil
}

// Addr implements [net.Listener].
func (o *overflow) Addr() net.Addr { return o.addr }

// serveOverflow serves an overflow until ctx is done.
func (s *Server) serveOverflow(ctx context.Context, o *overflow) error {
	srv := &http.Server{
		Handler:           o.handler(s.Health().ServeReady),
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
		MaxHeaderBytes:    1, // and 4 KB that net/http adds
		ReadHeaderTimeout: time.Second,
		ReadTimeout:       2 * time.Second,
		WriteTimeout:      checkTimeout + time.Second,
	}
	srv.SetKeepAlivesEnabled(false) // there are few connections
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(netutil.LimitListener(o, o.most)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler returns a handler that answers each request after a delay, even if the client has disconnected. Few are answered at once, so
// the delay bounds how many are per second.
func (o *overflow) handler(ready http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("/", o.refuse)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(overflowDelay)
		mux.ServeHTTP(w, r)
	})
}

// refuseDescriptors refuses a request to a process with too few file descriptors.
func refuseDescriptors(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusServiceUnavailable, operation.Refused(retwis.Unavailable(overflowRetryAfter)))
}

// refuseNetwork refuses a request of a network with too many connections or requests.
func refuseNetwork(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusTooManyRequests, operation.RateLimited(overflowRetryAfter, "too many connections from your network: close some, or use a connection for several requests"))
}

func refuse(w http.ResponseWriter, status int, response *graphql.Response) {
	body, err := operation.AppendResponse(nil, response)
	if err != nil {
		http.Error(w, http.StatusText(status), status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Retry-After", strconv.Itoa(overflowRetryAfter))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client is gone
}
