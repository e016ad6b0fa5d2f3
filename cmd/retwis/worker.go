package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"retwis/internal/fanout"
)

// workerCommand runs a worker without an API. It has nothing of its own to work on, so
// it needs a Redis that others use.
type workerCommand struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"The Redis of the service, as for serve; needed."`

	storeSettings
	leaseSettings
	logSettings
}

// Validate is called once all flags are read.
func (c *workerCommand) Validate() error {
	if c.RedisURL == "" || c.RedisURL == inMemory {
		return errors.New("a worker alone has nothing to do on a Redis of its own: " + giveRedis)
	}
	return errors.Join(c.storeSettings.check(), c.leaseSettings.check())
}

// Run works until ctx is done.
func (c *workerCommand) Run(ctx context.Context, console console) error {
	log := c.logger(console.err)
	options := c.storeSettings.options(log)
	options.URL = c.RedisURL
	db, err := openStore(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()

	_, _ = fmt.Fprintf(console.out, "The fan-out worker is ready (Redis: %s)\n", withoutPasswords(c.RedisURL))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return fanout.New(db, fanout.Options{Lease: c.WorkerLease, Log: log}).Run(ctx) })
	group.Go(func() error { return fanout.NewSweeper(db, fanout.SweeperOptions{Log: log}).Run(ctx) })
	return group.Wait()
}
