package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/clients"
	"retwis/internal/server/gqlsse"
	"retwis/internal/server/gqlws"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
	"retwis/internal/server/wsconn"
	"retwis/internal/sleep"
)

// Server serves the API until its Run ends. Run may be called once.
type Server struct {
	opts     Options
	api      *httpapi.API
	sockets  *gqlws.Handler
	streams  *gqlsse.Handler
	clients  *clients.Registry
	groups   *broadcast.Groups
	handler  http.Handler
	security httpapi.SecurityHeaders
	requests *requestMetrics
	networks *connections

	malformed *malformed
	floods    *floods

	clientsCancel context.CancelFunc // ends what runs for websockets
	slowConsumers atomic.Int64
	draining      atomic.Bool

	mu   sync.Mutex
	addr net.Addr
}

// New returns a server that does not listen yet. It fails if an option is invalid.
func New(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	origins, err := httpapi.ParseOrigins(opts.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, security: httpapi.NewSecurityHeaders(), requests: newRequestMetrics(opts.Metrics), floods: newFloods()}
	s.networks = newConnections(opts.ConnectionsPerNetwork, opts.TrustedProxies)
	s.malformed = &malformed{executor: opts.Executor, networks: s.networks, blocked: map[ratelimit.Key]time.Time{}}
	s.compose(origins)
	s.register(opts.Metrics)

	mux := http.NewServeMux()
	mux.Handle("/graphql", origins.CORS(http.HandlerFunc(s.serveGraphQL)))
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", s.Health().ServeReady)
	mux.HandleFunc("/metrics", noMetrics)
	mux.Handle("/", opts.Web)
	s.handler = s.observe(attributed(s.networks.bound(s.priced(mux), opts.Executor)))
	return s, nil
}

// compose makes the parts of the server.
func (s *Server) compose(origins *httpapi.Origins) {
	// Websockets outlive the requests that opened them.
	ctx, cancel := context.WithCancel(context.Background())
	s.clientsCancel = cancel
	var tasks sync.WaitGroup
	runner := operation.NewRunner(operation.RunnerOptions{
		Executor:    s.opts.Executor,
		Log:         s.opts.Log,
		Metrics:     operation.NewMetrics(s.opts.Metrics, s.opts.OperationNames),
		Tracer:      s.opts.Tracer,
		Unavailable: s.opts.Unavailable,
	})
	subscriptions := clients.NewQuota("subscriptions", s.opts.SubscriptionsPerUser, s.opts.SubscriptionsPerNetwork)
	s.groups = broadcast.NewGroups(ctx, runner, s.opts.Shares)
	s.clients = clients.NewRegistry(clients.Options{
		Accounts:     s.opts.Accounts,
		Log:          s.opts.Log,
		PingEvery:    s.opts.PingEvery,
		PongWait:     s.opts.PongWait,
		RecheckEvery: s.opts.RecheckEvery,
		Tasks:        &tasks,
		Turn:         func(client ratelimit.Client) (done func()) { return s.opts.Shares.Decode(ctx, client).End },
	})
	s.api = httpapi.New(httpapi.Options{
		Runner:       runner,
		Accounts:     s.opts.Accounts,
		Origins:      origins,
		Proxies:      s.opts.TrustedProxies,
		Shares:       s.opts.Shares,
		CookieMaxAge: s.opts.CookieMaxAge,
		Policies:     s.opts.Rates,
	})
	s.sockets = gqlws.New(ctx, gqlws.Options{
		Runner:        runner,
		Groups:        s.groups,
		Registry:      s.clients,
		Sockets:       clients.NewLimiter(s.opts.SocketsPerUser, s.opts.SocketsPerNetwork),
		Subscriptions: subscriptions,
		Operations:    clients.NewQuota("running operations", s.opts.OperationsPerUser, s.opts.OperationsPerNetwork),
		Conns: wsconn.NewShared(wsconn.Settings{
			QueueBytes:    s.opts.QueueBytes,
			WriteWait:     s.opts.WriteWait,
			PingEvery:     s.opts.PingEvery,
			PongWait:      s.opts.PongWait,
			MessageWait:   readTimeout,
			MaxMessage:    httpapi.MaxBody,
			LargeMessage:  operation.LargeRequest,
			BinaryCode:    gqlws.CloseInvalid,
			Tasks:         &tasks,
			SlowConsumers: &s.slowConsumers,
		}),
		Shares:                 s.opts.Shares,
		Origins:                origins,
		Draining:               s.draining.Load,
		Log:                    s.opts.Log,
		InitTimeout:            s.opts.InitTimeout,
		SubscriptionsPerSocket: s.opts.SubscriptionsPerSocket,
		Compression:            s.opts.Compression,
	})
	s.streams = gqlsse.New(gqlsse.Options{
		Runner:        runner,
		Groups:        s.groups,
		Registry:      s.clients,
		Subscriptions: subscriptions,
		Shares:        s.opts.Shares,
		SlowConsumers: &s.slowConsumers,
		QueueBytes:    s.opts.QueueBytes,
		PingEvery:     s.opts.PingEvery,
		WriteWait:     s.opts.WriteWait,
	})
}

// serveGraphQL answers /graphql: one operation by GET or POST, an event stream, or the
// upgrade to a websocket.
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.sockets.Upgrade(s.api.Begin(w, r))
		return
	}
	if media, ok := httpapi.PrefersEvents(r.Header["Accept"]); ok {
		s.streams.Serve(s.api.Begin(w, r), media)
		return
	}
	s.api.ServeHTTP(w, r)
}

// Handler returns everything the server answers, for a listener of the caller. If Run is not used, websockets are not
// closed and their sessions are not rechecked.
func (s *Server) Handler() http.Handler { return s.handler }

// Health returns the health of the server, for other listeners.
func (s *Server) Health() Health {
	return Health{Checks: s.opts.Checks, Draining: s.draining.Load, Log: s.opts.Log}
}

// SessionEnded disconnects the clients of sessions that have ended. It does not wait.
func (s *Server) SessionEnded(end retwis.SessionEnd) { s.clients.SessionEnded(end) }

// Addr returns where the server listens, or nil before it does.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Run listens and serves until ctx is done, then stops within 10 seconds: it reports itself as
// not ready, and after ShutdownDelay it accepts nothing new, finishes running requests, and drains the websockets and event streams.
func (s *Server) Run(ctx context.Context) error {
	listener, err := Listen(ctx, s.opts.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Listen listens at a TCP address, without multipath TCP: the options that bound what the kernel stores for a connection and ignore
// floods do not exist there.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", address) //nolint:wrapcheck // of the network
}

// Serve is Run on an open listener, such as that of [Listen]. It closes the listener.
func (s *Server) Serve(ctx context.Context, socket net.Listener) error {
	s.mu.Lock()
	s.addr = socket.Addr()
	s.mu.Unlock()
	s.opts.Log.InfoContext(ctx, "server: listening", "addr", socket.Addr().String())

	// Running requests are finished after ctx is done.
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	var fresh newConns
	srv := &http.Server{
		Handler:     s.handler,
		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: withConn,
		ConnState: func(conn net.Conn, state http.ConnState) {
			fresh.note(conn, state)
			s.networks.note(conn, state)
			s.malformed.note(conn, state)
			noteSender(conn, state)
		},
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       readTimeout,
		WriteTimeout:      operation.Timeout + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,

		DisableGeneralOptionsHandler: true, // all requests reach the handler, which charges for them
	}
	srv.RegisterOnShutdown(fresh.close)

	group, running := errgroup.WithContext(ctx)
	s.floods.ignore = func(networks []netip.Prefix) { ignoreNetworks(socket, networks) }
	listener, rest := guardDescriptors(socket, s.opts.Log)
	if rest != nil {
		group.Go(func() error { return s.serveOverflow(running, rest) })
	}
	refusing := newOverflow(listener.Addr(), maxRefusing, refuseNetwork)
	group.Go(func() error { return s.serveOverflow(running, refusing) })
	listener = &connectionListener{listener, s.networks, s.malformed, refusing, s.floods, s.opts.Executor, s.opts.Shares}
	group.Go(func() error {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		s.clients.CheckSessions(running)
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		s.stop(context.WithoutCancel(ctx), srv)
		return nil
	})
	return group.Wait()
}

// stop ends requests and long-lived connections in parallel, in an orderly way as long as
// there is time.
func (s *Server) stop(ctx context.Context, srv *http.Server) {
	s.draining.Store(true)
	s.opts.Log.InfoContext(ctx, "server: stopping")
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	_ = sleep.For(ctx, s.opts.ShutdownDelay) // load balancers read /readyz and choose other processes
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Shutdown(ctx); err != nil {
			s.opts.Log.WarnContext(ctx, "server: running requests were interrupted", "err", err)
			_ = srv.Close() // they had their time
		}
	})
	wg.Go(func() {
		defer s.clientsCancel()
		s.clients.Drain(ctx, s.opts.DrainTime)
	})
	wg.Wait()
}
