package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// maxReserve is the number of file descriptors that API connections leave free, for health
// checks, Redis and the operators' listener. A low limit reserves a quarter.
const maxReserve = 64

// descriptorListener watches the file descriptors of the connections that it accepts. The
// kernel gives out the lowest free one, so that its number says how many are in use. A
// connection on a reserved descriptor goes to the overflow listener, or is closed if that
// has too many.
type descriptorListener struct {
	net.Listener

	log      *slog.Logger
	limit    int
	reserve  int
	overflow *overflowListener
}

// guardDescriptors returns a listener whose connections leave descriptors free, and a
// listener of the connections above that. The second one is nil if the limit is unknown.
func guardDescriptors(listener net.Listener, log *slog.Logger) (guarded, overflow net.Listener) {
	var rlimit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &rlimit); err != nil || rlimit.Cur > 1<<30 {
		return listener, nil
	}
	limit := int(rlimit.Cur) //nolint:gosec // compared above
	reserve := min(maxReserve, limit/4)
	o := &overflowListener{conns: make(chan net.Conn, reserve/4), closed: make(chan struct{}), addr: listener.Addr()}
	guarded = &descriptorListener{listener, log, limit, reserve, o}
	return guarded, netutil.LimitListener(o, reserve/4)
}

// Accept implements [net.Listener].
func (l *descriptorListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.warn("server: out of file descriptors, connections wait", slog.Any("err", err))
		}
		if err != nil || descriptorOf(conn) < l.limit-l.reserve {
			return conn, err
		}
		l.warn("server: few file descriptors are left, answering health checks only")
		select {
		case l.overflow.conns <- conn:
		default:
			_ = conn.Close()
		}
	}
}

func (l *descriptorListener) warn(message string, attributes ...any) {
	l.log.Warn(message, append(attributes, "limit", l.limit, "fix", "raise the limit of open files (ulimit -n, LimitNOFILE)")...)
}

// descriptorOf returns the file descriptor of a connection, -1 if it has none.
func descriptorOf(conn net.Conn) int {
	number := -1
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { number = int(fd) }) //nolint:gosec // a descriptor is small
		}
	}
	return number
}

// overflowListener passes on the connections that a [descriptorListener] does not serve.
type overflowListener struct {
	conns  chan net.Conn
	closed chan struct{}
	addr   net.Addr
}

// Accept implements [net.Listener].
func (l *overflowListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It is called once.
func (l *overflowListener) Close() error {
	close(l.closed)
	return nil
}

// Addr implements [net.Listener].
func (l *overflowListener) Addr() net.Addr { return l.addr }

// serveOverflow answers health checks, and refuses all other requests, until ctx is done.
func (s *Server) serveOverflow(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", s.Health().ServeReady)
	mux.HandleFunc("/", refuseOverflow)
	srv := &http.Server{
		Handler:           mux,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: time.Second,
		ReadTimeout:       2 * time.Second,
		WriteTimeout:      checkTimeout + time.Second,
		MaxHeaderBytes:    maxHeader,
	}
	srv.SetKeepAlivesEnabled(false) // each connection holds a descriptor of the reserve
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// overflowRetryAfter is the time in seconds after which a refused client should retry.
const overflowRetryAfter = 5

func refuseOverflow(w http.ResponseWriter, _ *http.Request) {
	shown := retwis.Unavailable(overflowRetryAfter)
	body, err := operation.AppendResponse(nil, operation.Refused(shown))
	if err != nil {
		http.Error(w, shown.Message, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Retry-After", strconv.Itoa(overflowRetryAfter))
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(body) // an error means that the client is gone
}
