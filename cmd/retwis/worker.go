package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"retwis/internal/server"
)

// workerCommand runs a worker without an API. It has nothing of its own to work on, so
// it needs a Redis that others use.
type workerCommand struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"The Redis of the service, as for serve; needed."`

	processSettings
}

// Validate is called once all flags are read.
func (c *workerCommand) Validate() error {
	if c.RedisURL == "" || c.RedisURL == inMemory {
		return errors.New("a worker alone has nothing to do on a Redis of its own: " + giveRedis)
	}
	return c.processSettings.check()
}

// Run works until ctx is done.
func (c *workerCommand) Run(ctx context.Context, console console) error {
	b, err := c.open(ctx, console, c.RedisURL, "")
	if err != nil {
		return err
	}
	defer b.close(ctx)

	group, running := errgroup.WithContext(ctx)
	health := server.Health{Checks: c.checks(b.store), Draining: func() bool { return running.Err() != nil }, Log: b.log}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	group.Go(func() error {
		defer end()
		return b.worker.Run(running)
	})
	group.Go(func() error { return b.sweeper.Run(running) })
	group.Go(func() error { return b.watchers.run(life, health) })
	c.announceWorker(console.out, b.redis.name)
	return waitFor(running, group)
}
