package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/gctuner"
	"retwis/internal/live"
	"retwis/internal/ratelimit"
	"retwis/internal/seed"
	"retwis/internal/server"
	"retwis/web"
)

// serveCommand runs the service.
type serveCommand struct {
	Listen         string        `env:"RETWIS_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the API; port 0 picks one and says which."`
	AllowedOrigins []string      `env:"RETWIS_ALLOWED_ORIGINS" placeholder:"ORIGIN" help:"Other origins whose pages may use the API, like https://example.com, separated by commas."`
	TrustedProxies []string      `env:"RETWIS_TRUSTED_PROXIES" placeholder:"ADDR" help:"Addresses or networks of proxies in front, separated by commas, that are believed when they say for whom they ask (X-Forwarded-For or Forwarded) and whether over TLS (X-Forwarded-Proto)."`
	DrainTime      time.Duration `env:"RETWIS_DRAIN_TIME" default:"5s" placeholder:"TIME" help:"Over which open websockets are sent away when the service stops, 0s to 7s."`
	Compression    bool          `env:"RETWIS_COMPRESSION" default:"false" negatable:"" help:"Compress the messages of websockets whose client offers it: less to send, and more work, since compressed messages are not shared by those who are sent the same."`
	Worker         bool          `env:"RETWIS_WORKER" default:"true" negatable:"" help:"Run a fan-out worker in here too."`
	Introspection  bool          `env:"RETWIS_INTROSPECTION" default:"true" negatable:"" help:"Let clients read the schema, suggest names for those they mistype, and have the playground."`

	demoSettings
	limitSettings
	documentSettings
	redisSettings
	dataSettings
	processSettings
}

// Validate is called once all flags are read.
func (c *serveCommand) Validate() error {
	_, err := parseProxies(c.TrustedProxies)
	return errors.Join(
		checkAddress("listen", c.Listen, "127.0.0.1:8080"),
		checkOrigins(c.AllowedOrigins),
		err,
		checkDuration("drain-time", c.DrainTime, 0, 7*time.Second),
		c.demoSettings.check(),
		c.limitSettings.check(),
		c.documentSettings.check(),
		c.dataSettings.check(c.redisSettings),
		c.processSettings.check(),
	)
}

// Run puts the service together, top to bottom, and runs it until ctx is done.
func (c *serveCommand) Run(ctx context.Context, console console) error {
	// An address that is taken should be known before anything is begun. To listen already
	// would keep proxies waiting for us, who would ask another process otherwise.
	if listener, err := listen(ctx, "listen", c.Listen); err != nil {
		return err
	} else if err := listener.Close(); err != nil {
		return fmt.Errorf("try the address %s: %w", c.Listen, err)
	}
	b, err := c.open(ctx, console, c.RedisURL, c.DataDir)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	log, db, metrics := b.log, b.store, b.watchers.registry

	accounts, err := auth.NewAccounts(db, auth.Options{Log: log})
	if err != nil {
		return fmt.Errorf("prepare accounts: %w", err)
	}
	demo, err := c.people(ctx, db, accounts, log)
	if err != nil {
		return err
	}
	quotas := ratelimit.New(db, c.rates(), log)
	quotas.Register(metrics)
	hub := live.NewHub(db, log, live.Options{Node: rand.Text(), Metrics: metrics})
	trusted, err := c.trusted()
	if err != nil {
		return misuse{err}
	}
	executor := graph.NewExecutor(&graph.Resolver{
		Accounts:  accounts,
		Users:     db,
		Posts:     db,
		Follows:   db,
		Lists:     db,
		Timelines: db,
		Live:      hub,
		Limits:    quotas,
	}, graph.Options{Log: log, Introspection: c.Introspection, Documents: db, Trusted: trusted})
	app, err := web.Handler(c.Introspection && !c.TrustedOnly)
	if err != nil {
		return fmt.Errorf("prepare the web app: %w", err)
	}
	api, err := server.New(c.serverOptions(server.Options{
		Web:      app,
		Executor: executor,
		Accounts: accounts,
		Log:      log,
		Checks:   append(c.checks(db), liveCheck(db, hub)),
		Metrics:  metrics,
		Tracer:   b.traces.Tracer("server"),

		OperationNames: web.OperationNames(),
	}))
	if err != nil {
		return misuse{err}
	}
	listener, err := listen(ctx, "listen", c.Listen)
	if err != nil {
		return err
	}

	// Whatever ends first, a signal or a failure, ends the server, and the end of each part
	// lets the next one go that it needed.
	group, running := errgroup.WithContext(ctx)
	hubLife, endHub := context.WithCancel(context.WithoutCancel(ctx))
	defer endHub()
	workLife, endWork := context.WithCancel(context.WithoutCancel(ctx))
	defer endWork()
	group.Go(func() error {
		defer endWork()
		return hub.Run(hubLife)
	})
	group.Go(func() error { return db.WatchSessions(hubLife, api.SessionEnded) })
	group.Go(func() error { return db.WatchAuthors(hubLife) })
	group.Go(func() error { return gctuner.Tune(running) })
	group.Go(func() error { return quotas.Run(hubLife) })
	group.Go(func() error { return b.watchers.run(workLife, api.Health()) })
	group.Go(func() error {
		defer endHub()
		return api.Serve(running, listener)
	})
	if c.Worker {
		group.Go(func() error { return b.worker.Run(workLife) })
		group.Go(func() error { return b.sweeper.Run(workLife) })
	}
	group.Go(func() error {
		select {
		case <-b.redis.ended():
			return errors.New("the redis-server of this service has ended")
		case <-workLife.Done():
			return nil
		}
	})
	if demo != nil {
		activity := demo.Activity(db, seed.ActivityOptions{Log: log})
		group.Go(func() error { return activity.Run(running) })
	}
	c.announce(console.out, ready{URL: urlOf(listener.Addr()), Redis: b.redis.name, Data: b.redis.keeps()})
	if demo != nil {
		c.announceDemo(console.out, demo.MostPopular(3))
	}
	return waitFor(running, group)
}

func (c *serveCommand) serverOptions(o server.Options) server.Options {
	o.Listen = c.Listen
	o.Rates = c.rates().List()
	o.AllowedOrigins = c.AllowedOrigins
	o.TrustedProxies, _ = parseProxies(c.TrustedProxies) // was checked
	o.DrainTime = max(c.DrainTime, 1)                    // 0 stands for the default there
	o.Compression = c.Compression
	if c.RateLimits == "off" {
		o.SocketsPerUser, o.SocketsPerNetwork = -1, -1
		o.SubscriptionsPerUser, o.SubscriptionsPerNetwork = -1, -1
	}
	return o
}

// checkOrigins says what to change about the origins of other pages.
func checkOrigins(list []string) error {
	if err := server.CheckOrigins(list); err != nil {
		return fmt.Errorf("--allowed-origins (RETWIS_ALLOWED_ORIGINS): %w", err)
	}
	return nil
}

// parseProxies reads addresses and networks.
func parseProxies(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list {
		text = strings.TrimSpace(text)
		if addr, err := netip.ParseAddr(text); err == nil {
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies (RETWIS_TRUSTED_PROXIES) has %q: give addresses or networks, like 10.0.0.0/8", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}
