package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
)

// Server serves the API until its Run ends. It is made for one Run.
type Server struct {
	opts     Options
	origins  origins
	proxies  proxies
	engine   engine
	upgrader *websocket.Upgrader
	sockets  *sockets
	bodies   buffers // of HTTP responses
	handler  http.Handler
	secured  http.Header // of every answer
	draining atomic.Bool
	policies []string // of the header RateLimit-Policy
	metrics  *metrics

	mu   sync.Mutex
	addr net.Addr
}

// New returns a server that listens nowhere yet. Its errors are about the options.
func New(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	origins, err := parseOrigins(opts.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts:     opts,
		origins:  origins,
		proxies:  opts.TrustedProxies,
		metrics:  newMetrics(opts.Metrics, opts.OperationNames),
		upgrader: newUpgrader(opts.Compression),
		policies: policiesOf(opts.Rates),
	}
	s.secured = secureHeaders()
	s.engine = engine{exec: opts.Executor, log: opts.Log, metrics: s.metrics.operations, tracer: opts.Tracer}
	s.sockets = newSockets(opts, s.engine, s.authenticate)
	s.register(opts.Metrics)
	mux := http.NewServeMux()
	mux.Handle("/graphql", origins.cors(http.HandlerFunc(s.serveGraphQL)))
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", s.Health().ServeReady)
	mux.HandleFunc("/metrics", noMetrics)
	mux.Handle("/", opts.Web)
	s.handler = s.observe(mux)
	return s, nil
}

// Handler returns everything the server answers, for a listener of somebody else's.
// Without Run nobody closes its websockets, nor checks their sessions now and then.
func (s *Server) Handler() http.Handler { return s.handler }

// Health is that of the server, for other listeners.
func (s *Server) Health() Health {
	return Health{Checks: s.opts.Checks, Draining: s.draining.Load, Log: s.opts.Log}
}

// SessionEnded closes the websockets of sessions that have ended. It does not wait.
func (s *Server) SessionEnded(end retwis.SessionEnd) { s.sockets.ended(end) }

// Addr returns where the server listens, or nil when it does not yet.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Run listens and serves until ctx is done, then stops within 10 seconds: it accepts
// nothing new, finishes the requests it has, and sends the websockets away.
func (s *Server) Run(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.opts.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Serve is Run on a listener that is open already. It closes it.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	s.mu.Lock()
	s.addr = listener.Addr()
	s.mu.Unlock()
	s.opts.Log.InfoContext(ctx, "listening", "addr", listener.Addr().String())

	// Requests outlive the wish to stop.
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	var arriving newcomers
	srv := &http.Server{
		Handler:           s.handler,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         arriving.note,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       readTime,
		WriteTimeout:      operationTime + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
	}
	srv.RegisterOnShutdown(arriving.close)

	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		s.sockets.checkSessions(running)
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		s.stop(context.WithoutCancel(ctx), srv)
		return nil
	})
	return group.Wait()
}

// stop ends requests and websockets side by side, politely as long as there is time.
func (s *Server) stop(ctx context.Context, srv *http.Server) {
	s.draining.Store(true)
	s.opts.Log.InfoContext(ctx, "stopping")
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Shutdown(ctx); err != nil {
			s.opts.Log.WarnContext(ctx, "requests were cut short", "err", err)
			_ = srv.Close() // they had their time
		}
	})
	wg.Go(func() { s.sockets.drain(ctx, s.opts.DrainTime) })
	wg.Wait()
}
