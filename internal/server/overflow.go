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

// overflowTime is how long a connection takes one of the few places of an overflow, at least. So it bounds how many are served in a second, also
// those that net/http refuses by itself, such as malformed requests.
const overflowTime = 250 * time.Millisecond

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

// take serves a connection, or closes it if there are too many, and reports which.
func (o *overflow) take(conn net.Conn) bool {
	select {
	case o.conns <- conn:
		return true
	default:
		_ = conn.Close()
		return false
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

// places returns a listener of few connections at once.
func (o *overflow) places() net.Listener { return placeListener{netutil.LimitListener(o, o.most)} }

// placeListener keeps the place of each connection for a while.
type placeListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l placeListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // of the listener
	}
	return placedConn{conn, time.Now().Add(overflowTime)}, nil
}

// placedConn is a connection with a place until some time.
type placedConn struct {
	net.Conn
	until time.Time
}

// Close closes the connection, but not before that time.
func (c placedConn) Close() error {
	time.AfterFunc(time.Until(c.until), func() { _ = c.Conn.Close() })
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
	if err := srv.Serve(o.places()); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler returns a handler that answers health checks, and refuses all else.
func (o *overflow) handler(ready http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("/", o.refuse)
	return mux
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
