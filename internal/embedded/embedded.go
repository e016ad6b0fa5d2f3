// Package embedded runs a Redis if none is configured: a redis-server child process that
// stores its data in a directory or, if redis-server is not installed, an in-process Redis
// that stores nothing.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"retwis/internal/redisproc"
)

// ErrInUse means that another process uses the data directory.
var ErrInUse = errors.New("the data directory is in use")

// Options configure the Redis to run.
type Options struct {
	DataDir string       // created if missing; an in-process Redis does not use it
	Log     *slog.Logger // nil disables logging
	Memory  bool         // run an in-process Redis even if redis-server is installed
}

// Instance is a running Redis.
type Instance struct {
	url       string
	inProcess bool
	done      chan struct{} // closed when it has ended unexpectedly

	closeOnce sync.Once
	close     func(context.Context) error
	closeErr  error
}

// Start runs a Redis and waits until it answers, for as long as it makes progress in loading
// its data. The error wraps [ErrInUse] if another process uses the data directory. After
// Start has returned, ctx has no effect.
func Start(ctx context.Context, opts Options) (*Instance, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Memory {
		opts.Log.InfoContext(ctx, "embedded: running an in-process Redis as configured; its data is lost when the process ends")
		return startInProcess()
	}
	path, err := redisproc.Find(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	if err != nil {
		opts.Log.WarnContext(ctx, fmt.Sprintf("embedded: running an in-process Redis; its data is lost when the process ends; "+
			"to keep data, install redis-server %d or later", redisproc.MinVersion), "reason", err)
		if HasData(opts.DataDir) {
			opts.Log.WarnContext(ctx, "embedded: not using the data of earlier runs", "data", opts.DataDir)
		}
		return startInProcess()
	}
	return startChild(ctx, path, opts)
}

// HasData reports whether a directory contains data of a Redis.
func HasData(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "appendonlydir"))
	return err == nil
}

// URL returns the address in the form of redis.ParseURL.
func (i *Instance) URL() string { return i.url }

// InProcess reports whether this is an in-process Redis, which lacks some commands and stores
// nothing.
func (i *Instance) InProcess() bool { return i.inProcess }

// Done is closed when the Redis has ended unexpectedly. [Instance.Close] does not close it.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Close stops the Redis and waits until it has stored its data or ctx is done. Later calls
// return the result of the first one.
func (i *Instance) Close(ctx context.Context) error {
	i.closeOnce.Do(func() { i.closeErr = i.close(ctx) })
	return i.closeErr
}
