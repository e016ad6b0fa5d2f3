package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/cli"
	"retwis/internal/cost"
	"retwis/internal/gctuner"
	"retwis/internal/live"
	"retwis/internal/netpoll"
	"retwis/internal/ratelimit"
	"retwis/internal/seed"
	"retwis/internal/server"
	"retwis/internal/server/clients"
	"retwis/internal/store/rdb"
	"retwis/web"
)

// serveCommand runs the service.
type serveCommand struct {
	Listen         string        `env:"RETWIS_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the API. Port 0 selects a free port, which is printed."`
	AllowedOrigins []string      `env:"RETWIS_ALLOWED_ORIGINS" placeholder:"ORIGIN" help:"Other origins whose pages may use the API, like https://example.com, separated by commas."`
	TrustedProxies []string      `env:"RETWIS_TRUSTED_PROXIES" placeholder:"ADDR" help:"Trusted proxies: addresses or networks, separated by commas, whose forwarding headers (X-Forwarded-For, Forwarded, X-Forwarded-Proto) are honoured."`
	DrainTime      time.Duration `env:"RETWIS_DRAIN_TIME" default:"5s" placeholder:"TIME" help:"Time over which open websockets are closed when the service stops, 0s to 7s."`
	ShutdownDelay  time.Duration `env:"RETWIS_SHUTDOWN_DELAY" default:"1s" placeholder:"TIME" help:"Time for which a stopping service still serves while /readyz fails, so that load balancers choose another process first, 0s to 3s."`
	Compression    bool          `env:"RETWIS_COMPRESSION" default:"false" negatable:"" help:"Compress the messages of websockets whose clients support it. This saves bandwidth and costs CPU time, because compressed messages are not shared between subscribers."`
	PostCacheMB    int           `name:"post-cache-mb" env:"RETWIS_POST_CACHE_MB" default:"64" placeholder:"N" help:"Memory of this process for posts of pages that were read recently, in MiB. 0 reads the posts of every page from Redis."`
	Worker         bool          `env:"RETWIS_WORKER" default:"true" negatable:"" help:"Run a fan-out worker in this process."`
	Introspection  bool          `env:"RETWIS_INTROSPECTION" default:"true" negatable:"" help:"Allow introspection, suggestions for misspelt names, and the playground."`

	demoSettings
	limitSettings
	documentSettings
	redisSettings
	dataSettings
	processSettings
}

// Validate checks the flags.
func (c *serveCommand) Validate() error {
	_, err := parseProxies(c.TrustedProxies)
	return errors.Join(
		checkAddress("listen", c.Listen, "127.0.0.1:8080"),
		checkOrigins(c.AllowedOrigins),
		err,
		checkDuration("drain-time", c.DrainTime, 0, 7*time.Second),
		checkDuration("shutdown-delay", c.ShutdownDelay, 0, 3*time.Second),
		checkNumber("post-cache-mb", c.PostCacheMB, 0, 1_000_000),
		c.demoSettings.check(),
		c.limitSettings.check(),
		c.documentSettings.check(),
		c.dataSettings.check(c.redisSettings),
		c.processSettings.check(),
	)
}

// Run composes the service and runs it until ctx is done.
func (c *serveCommand) Run(ctx context.Context, console cli.Console) error {
	// Open what the service needs: monitoring, tracing and the database.
	if err := checkFree(ctx, "listen", c.Listen); err != nil {
		return err
	}
	n, err := c.open(ctx, console, c.RedisURL, c.DataDir)
	if err != nil {
		return err
	}
	defer n.close(ctx)
	log, db, metrics := n.log, n.store, n.operators.registry

	// Build the parts, each from the ones before it.
	shares := cost.NewShares()
	shares.Register(metrics)
	accounts, err := auth.NewAccounts(db.Accounts, db.Sessions, auth.Options{Log: log, Turn: func(ctx context.Context) (func(), error) {
		return shares.Hash(ctx, clients.ClientOf(ctx))
	}})
	if err != nil {
		return fmt.Errorf("prepare accounts: %w", err)
	}
	demo, err := c.users(ctx, db, accounts, log)
	if err != nil {
		return err
	}
	limiter := ratelimit.New(db.Limits, c.rates(), log)
	limiter.Register(metrics)
	watching := live.Options{Node: rand.Text(), Shares: shares, Metrics: metrics}
	if c.off() {
		watching.MaxOfUser = -1
	}
	hub := live.NewHub(db.Live, log, watching)
	trusted, err := c.trusted()
	if err != nil {
		return cli.Misuse(err)
	}
	executor := graph.NewExecutor(&graph.Resolver{
		Accounts:  accounts,
		Users:     db.Accounts,
		Posts:     db.Posts,
		Follows:   db.Follows,
		Reposts:   db.Posts,
		Likes:     db.Likes,
		Lists:     db.Lists,
		Tags:      db.Tags,
		Timelines: db.Timelines,
		Live:      hub,
		Limits:    limiter,
	}, graph.Options{
		Log: log, Introspection: c.Introspection, Documents: db.Documents, Trusted: trusted, Unavailable: rdb.Unavailable,
		Shares: shares,
	})
	app, err := web.Handler(web.Options{
		Playground: c.Introspection && !c.TrustedOnly,
		Demo:       demoAccounts(demo),
		HasSession: hasSessionCookie,
	})
	if err != nil {
		return fmt.Errorf("prepare the web app: %w", err)
	}
	api, err := server.New(c.serverOptions(server.Options{
		Web:      app,
		Executor: executor,
		Accounts: accounts,
		Log:      log,
		Shares:   shares,
		Checks:   append(c.checks(db), c.liveCheck(db, hub)),
		Metrics:  metrics,
		Tracer:   n.traces.Tracer("server"),

		Unavailable:    rdb.Unavailable,
		OperationNames: web.OperationNames(),
	}))
	if err != nil {
		return cli.Misuse(err)
	}
	listener, err := listen(ctx, "listen", c.Listen)
	if err != nil {
		return err
	}

	// Run the parts in one group. A signal or the first failure stops the API. The end of the API stops
	// the hub, and the end of the hub stops the worker: each part runs as long as another one uses it.
	group, running := errgroup.WithContext(ctx)
	hubCtx, stopHub := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHub()
	workerCtx, stopWorker := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorker()
	group.Go(func() error {
		defer stopHub()
		return api.Serve(running, listener)
	})
	group.Go(func() error {
		defer stopWorker()
		return hub.Run(hubCtx)
	})
	group.Go(func() error { return db.Sessions.WatchSessions(hubCtx, api.SessionEnded) })
	group.Go(func() error { return db.Accounts.WatchAuthors(hubCtx) })
	group.Go(func() error { return db.Posts.Cache(hubCtx, c.PostCacheMB<<20) })
	group.Go(func() error { return limiter.Run(hubCtx) })
	group.Go(func() error { return db.Health.Run(workerCtx) })
	group.Go(func() error { return db.JoinProcesses(workerCtx, shares, n.worker.Behind) })
	if c.Worker {
		group.Go(func() error { return n.worker.Run(workerCtx) })
		group.Go(func() error { return n.sweeper.Run(workerCtx) })
	}
	group.Go(func() error { return n.operators.run(workerCtx, api.Health()) })
	group.Go(func() error { return n.redis.watch(workerCtx) })
	group.Go(func() error { return gctuner.Tune(running) })
	group.Go(func() error { return netpoll.Run(workerCtx) })
	if demo != nil {
		activity := demo.Activity(activityStore{db.Posts, db.Follows, db.Timelines, db.Accounts}, seed.ActivityOptions{Log: log})
		group.Go(func() error { return activity.Run(running) })
	}
	c.announce(console.Out, ready{URL: urlOf(listener.Addr()), Redis: n.redis.name, Data: n.redis.persistence()})
	if demo != nil {
		c.announceDemo(console.Out, demoAccounts(demo))
	}
	return waitFor(running, group)
}

// hasSessionCookie reports whether a request carries a session cookie. It does not check the
// session.
func hasSessionCookie(r *http.Request) bool {
	for _, name := range []string{auth.CookieName, auth.SecureCookieName} {
		if cookie, err := r.Cookie(name); err == nil && cookie.Value != "" {
			return true
		}
	}
	return false
}

func (c *serveCommand) serverOptions(o server.Options) server.Options {
	o.Listen = c.Listen
	o.Rates = c.rates().List()
	o.AllowedOrigins = c.AllowedOrigins
	o.TrustedProxies, _ = parseProxies(c.TrustedProxies) // Validate has accepted it
	o.DrainTime = max(c.DrainTime, 1)                    // 0 selects the default
	o.ShutdownDelay = c.ShutdownDelay
	o.Compression = c.Compression
	o.ConnectionsPerNetwork = c.LimitConnections
	if c.off() {
		o.ConnectionsPerNetwork = -1
		o.SocketsPerUser, o.SocketsPerNetwork = -1, -1
		o.SubscriptionsPerUser, o.SubscriptionsPerNetwork = -1, -1
		o.OperationsPerUser, o.OperationsPerNetwork = -1, -1
	}
	return o
}
