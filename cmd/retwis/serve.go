package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/collector"
	"retwis/internal/fanout"
	"retwis/internal/live"
	"retwis/internal/quota"
	"retwis/internal/seed"
	"retwis/internal/server"
	"retwis/web"
)

// stopTime is how long everything may take to stop before it is given up, Redis apart.
const stopTime = 9500 * time.Millisecond

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
	storeSettings
	leaseSettings
	operatorSettings
	logSettings
}

// Validate is called once all flags are read.
func (c *serveCommand) Validate() error {
	if _, err := net.ResolveTCPAddr("tcp", c.Listen); err != nil {
		return fmt.Errorf("--listen (RETWIS_LISTEN) is %q: choose an address like 127.0.0.1:8080: %w", c.Listen, err)
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		return err
	}
	return errors.Join(
		checkDuration("drain-time", c.DrainTime, 0, 7*time.Second),
		c.demoSettings.check(),
		c.limitSettings.check(),
		c.documentSettings.check(),
		c.storeSettings.check(),
		c.leaseSettings.check(),
		c.operatorSettings.check(),
	)
}

// Run puts the service together, top to bottom, and runs it until ctx is done.
func (c *serveCommand) Run(ctx context.Context, console console) error {
	log := c.logger(console.err)
	watchers, err := c.operatorSettings.open(ctx, log)
	if err != nil {
		return err
	}
	defer watchers.close()
	traces, err := startTracing(ctx, log)
	if err != nil {
		return err
	}
	defer traces.stop(ctx)

	redis, err := openRedis(ctx, c.RedisURL, c.DataDir, log)
	if err != nil {
		return err
	}
	defer redis.close(ctx, log)

	options := c.storeSettings.options(log)
	options.URL = redis.url
	options.Metrics = watchers.registry
	db, err := openStore(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()

	accounts, err := auth.NewAccounts(db, auth.Options{Log: log})
	if err != nil {
		return fmt.Errorf("prepare accounts: %w", err)
	}
	demo, err := c.people(ctx, db, accounts, log)
	if err != nil {
		return err
	}
	quotas := quota.New(db, c.rates(), log)
	quotas.Register(watchers.registry)
	hub := live.NewHub(db, log, live.Options{Node: rand.Text(), Metrics: watchers.registry})
	executor := graph.NewExecutor(&graph.Resolver{
		Accounts:  accounts,
		Users:     db,
		Posts:     db,
		Follows:   db,
		Lists:     db,
		Timelines: db,
		Live:      hub,
		Limits:    quotas,
	}, graph.Options{Log: log, Introspection: c.Introspection, Documents: db})
	if err := c.trust(executor); err != nil {
		return misuse{err}
	}
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
		Metrics:  watchers.registry,
		Tracer:   traces.Tracer("server"),

		OperationNames: web.OperationNames(),
	}))
	if err != nil {
		return misuse{err}
	}
	worker := fanout.New(db, fanout.Options{Lease: c.WorkerLease, Log: log, Metrics: watchers.registry, Tracer: traces.Tracer("fanout")})
	sweeper := fanout.NewSweeper(db, fanout.SweeperOptions{Log: log, Metrics: watchers.registry})

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --listen (RETWIS_LISTEN)", err)
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
	group.Go(func() error { return collector.Tune(running) })
	group.Go(func() error { return quotas.Run(hubLife) })
	group.Go(func() error { return watchers.run(workLife, api.Health()) })
	group.Go(func() error {
		defer endHub()
		return api.Serve(running, listener)
	})
	if c.Worker {
		group.Go(func() error { return worker.Run(workLife) })
		group.Go(func() error { return sweeper.Run(workLife) })
	}
	group.Go(func() error {
		select {
		case <-redis.ended():
			return errors.New("the redis-server of this service has ended")
		case <-workLife.Done():
			return nil
		}
	})
	if demo != nil {
		life := demo.Life(db, seed.LifeOptions{Log: log})
		group.Go(func() error { return life.Run(running) })
	}
	c.announce(console.out, ready{URL: urlOf(listener.Addr()), Redis: redis.name, Data: redis.keeps()})
	if demo != nil {
		c.announceDemo(console.out, demo.Known(3))
	}
	return waitFor(running, group)
}

func (c *serveCommand) serverOptions(o server.Options) server.Options {
	o.Listen = c.Listen
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

// waitFor returns what the group returns. It does not wait for ever once the group was
// told to stop.
func waitFor(running context.Context, group *errgroup.Group) error {
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	<-running.Done()
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("stopping took longer than %s and was given up", stopTime)
	}
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
