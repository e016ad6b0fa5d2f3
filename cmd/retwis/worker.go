package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"retwis/internal/fanout"
	"retwis/internal/server"
)

// workerCommand runs a worker without an API. It has nothing of its own to work on, so
// it needs a Redis that others use.
type workerCommand struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"The Redis of the service, as for serve; needed."`

	storeSettings
	leaseSettings
	operatorSettings
	logSettings
}

// Validate is called once all flags are read.
func (c *workerCommand) Validate() error {
	if c.RedisURL == "" || c.RedisURL == inMemory {
		return errors.New("a worker alone has nothing to do on a Redis of its own: " + giveRedis)
	}
	return errors.Join(c.storeSettings.check(), c.leaseSettings.check(), c.operatorSettings.check())
}

// Run works until ctx is done.
func (c *workerCommand) Run(ctx context.Context, console console) error {
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
	options := c.storeSettings.options(log)
	options.URL = c.RedisURL
	options.Metrics = watchers.registry
	db, err := openStore(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()

	_, _ = fmt.Fprintf(console.out, "The fan-out worker is ready (Redis: %s)\n", withoutPasswords(c.RedisURL))
	worker := fanout.New(db, fanout.Options{Lease: c.WorkerLease, Log: log, Metrics: watchers.registry, Tracer: traces.Tracer("fanout")})
	sweeper := fanout.NewSweeper(db, fanout.SweeperOptions{Log: log, Metrics: watchers.registry})
	health := server.Health{Checks: c.checks(db), Draining: func() bool { return ctx.Err() != nil }, Log: log}
	group, running := errgroup.WithContext(ctx)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		defer end()
		return worker.Run(running)
	})
	group.Go(func() error { return sweeper.Run(running) })
	group.Go(func() error { return watchers.run(life, health) })
	return group.Wait()
}
