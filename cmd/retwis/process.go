package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/cli"
	"retwis/internal/fanout"
)

// stopTime bounds the shutdown, except that of Redis.
const stopTime = 9500 * time.Millisecond

// processSettings are the settings of a process of the service, with or without an API.
type processSettings struct {
	storeSettings
	leaseSettings
	operatorSettings
	logSettings
}

func (s processSettings) check() error {
	return errors.Join(s.storeSettings.check(), s.leaseSettings.check(), s.operatorSettings.check())
}

// node holds what each process of the service has, with or without an API.
type node struct {
	log       *slog.Logger
	operators *operators
	traces    traces
	*database

	worker  *fanout.Worker
	sweeper *fanout.Sweeper
}

// open opens a process. If a part fails, it closes those that are open.
func (s processSettings) open(ctx context.Context, console cli.Console, redisURL, dataDir string) (_ *node, err error) {
	n := &node{log: s.logger(console.Err)}
	defer func() {
		if err != nil {
			n.close(ctx)
		}
	}()
	if n.operators, err = s.operatorSettings.open(ctx, n.log); err != nil {
		return nil, err
	}
	if n.traces, err = startTracing(ctx, n.log); err != nil {
		return nil, err
	}
	options := s.storeSettings.options(n.log)
	options.Metrics = n.operators.registry
	if n.database, err = openDatabase(ctx, redisURL, dataDir, options); err != nil {
		return nil, err
	}
	n.worker = fanout.New(n.store.Outbox, n.store.Tasks, fanout.Options{
		Lease: s.WorkerLease, Log: n.log, Metrics: n.operators.registry, Tracer: n.traces.Tracer("fanout"),
	})
	n.sweeper = fanout.NewSweeper(n.store.Sweeps, fanout.SweeperOptions{Log: n.log, Metrics: n.operators.registry})
	return n, nil
}

// close closes what is open: Redis first, because tracing and monitoring observe it.
func (n *node) close(ctx context.Context) {
	if n.database != nil {
		n.database.close(ctx)
	}
	if n.traces.Tracing != nil {
		n.traces.stop(ctx)
	}
	if n.operators != nil {
		n.operators.close()
	}
}

// waitFor returns the error of a group. After the group was told to stop, it waits for a bounded time.
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
		return fmt.Errorf("the shutdown did not complete within %s", stopTime)
	}
}
