package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"retwis/internal/cli"
	"retwis/internal/server"
)

// workerCommand runs a worker without an API. It needs the Redis of a service.
type workerCommand struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"URL of the Redis of the service, as for serve. Required."`

	processSettings
}

// Validate checks the flags.
func (c *workerCommand) Validate() error {
	if c.RedisURL == "" || c.RedisURL == inMemory {
		return errors.New("a worker needs the Redis of a service: " + giveRedis)
	}
	return c.processSettings.check()
}

// Run composes the worker and runs it until ctx is done.
func (c *workerCommand) Run(ctx context.Context, console cli.Console) error {
	n, err := c.open(ctx, console, c.RedisURL, "")
	if err != nil {
		return err
	}
	defer n.close(ctx)

	// The end of the worker stops the monitoring.
	group, running := errgroup.WithContext(ctx)
	health := server.Health{Checks: c.checks(n.store), Draining: func() bool { return running.Err() != nil }, Log: n.log}
	operatorsCtx, stopOperators := context.WithCancel(context.WithoutCancel(ctx))
	defer stopOperators()
	group.Go(func() error {
		defer stopOperators()
		return n.worker.Run(running)
	})
	group.Go(func() error { return n.sweeper.Run(running) })
	group.Go(func() error { return n.store.Health.Run(running) })
	group.Go(func() error { return n.store.JoinProcesses(running, nil, n.worker.Behind) })
	group.Go(func() error { return n.operators.run(operatorsCtx, health) })
	c.announceWorker(console.Out, n.redis.name)
	return waitFor(running, group)
}
