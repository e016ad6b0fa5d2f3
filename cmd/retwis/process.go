package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/fanout"
)

// stopTime is how long everything may take to stop before it is given up, Redis apart.
const stopTime = 9500 * time.Millisecond

// processSettings are those of a process of the service, with an API or without one.
type processSettings struct {
	storeSettings
	leaseSettings
	operatorSettings
	logSettings
}

func (s processSettings) check() error {
	return errors.Join(s.storeSettings.check(), s.leaseSettings.check(), s.operatorSettings.check())
}

// base is what a process of the service stands on.
type base struct {
	log      *slog.Logger
	watchers *operators
	traces   traces
	*database

	worker  *fanout.Worker
	sweeper *fanout.Sweeper
}

// open opens the parts one after the other; what was opened is closed again where one fails.
func (s processSettings) open(ctx context.Context, console console, redisURL, dataDir string) (_ *base, err error) {
	b := &base{log: s.logger(console.err)}
	defer func() {
		if err != nil {
			b.close(ctx)
		}
	}()
	if b.watchers, err = s.operatorSettings.open(ctx, b.log); err != nil {
		return nil, err
	}
	if b.traces, err = startTracing(ctx, b.log); err != nil {
		return nil, err
	}
	options := s.storeSettings.options(b.log)
	options.Metrics = b.watchers.registry
	if b.database, err = openDatabase(ctx, redisURL, dataDir, options); err != nil {
		return nil, err
	}
	b.worker = fanout.New(b.store, fanout.Options{
		Lease: s.WorkerLease, Log: b.log, Metrics: b.watchers.registry, Tracer: b.traces.Tracer("fanout"),
	})
	b.sweeper = fanout.NewSweeper(b.store, fanout.SweeperOptions{Log: b.log, Metrics: b.watchers.registry})
	return b, nil
}

// close closes what is open, Redis before those who are told of it.
func (b *base) close(ctx context.Context) {
	if b.database != nil {
		b.database.close(ctx)
	}
	if b.traces.Tracing != nil {
		b.traces.stop(ctx)
	}
	if b.watchers != nil {
		b.watchers.close()
	}
}

// listen opens the address that a flag names.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with --%s (%s)", err, flag, variableOf(flag))
	}
	return listener, nil
}

// checkAddress says what to change about an address to listen at. Left empty it would be a
// random port that everybody can reach.
func checkAddress(flag, address, example string) error {
	if address == "" {
		return fmt.Errorf("--%s (%s) is empty: choose an address like %s", flag, variableOf(flag), example)
	}
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return fmt.Errorf("--%s (%s) is %q: choose an address like %s: %w", flag, variableOf(flag), address, example, err)
	}
	return nil
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
