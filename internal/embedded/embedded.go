// Package embedded runs a Redis for a start that was given none: a redis-server
// as a child process that keeps its data in a directory, or, where there is none
// to run, one inside this process that forgets everything.
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

// ErrInUse says that another process has the data directory.
var ErrInUse = errors.New("the data directory is in use")

// Options say what Redis to run.
type Options struct {
	DataDir string       // made if missing; a Redis inside this process does not touch it
	Log     *slog.Logger // nil drops everything
	Memory  bool         // run Redis inside this process even where there is a redis-server
}

// Instance is a running Redis.
type Instance struct {
	url       string
	inProcess bool
	done      chan struct{} // closed when it ended unexpectedly

	closeOnce sync.Once
	close     func(context.Context) error
	closeErr  error
}

// Start runs a Redis and waits until it answers, however much data it has to
// load, as long as it gets on with it. The error wraps [ErrInUse] when another
// process uses the data directory. Done or not, ctx has no effect once Start has
// returned.
func Start(ctx context.Context, opts Options) (*Instance, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Memory {
		opts.Log.InfoContext(ctx, "running Redis inside this process, as asked: nothing is kept when it ends")
		return startInProcess()
	}
	path, err := redisproc.Find(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	if err != nil {
		opts.Log.WarnContext(ctx, fmt.Sprintf("running Redis inside this process: nothing is kept when it ends; "+
			"to keep data, install redis-server %d or later", redisproc.MinVersion), "reason", err)
		if HasData(opts.DataDir) {
			opts.Log.WarnContext(ctx, "the data of earlier runs is left alone", "data", opts.DataDir)
		}
		return startInProcess()
	}
	return startChild(ctx, path, opts)
}

// HasData reports whether a Redis has kept data in a directory.
func HasData(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "appendonlydir"))
	return err == nil
}

// URL returns the address in the form that redis.ParseURL reads.
func (i *Instance) URL() string { return i.url }

// InProcess reports whether this Redis is a substitute inside this process: it
// lacks some commands and keeps nothing.
func (i *Instance) InProcess() bool { return i.inProcess }

// Done is closed when the Redis has ended without being told to. [Instance.Close]
// does not close it.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Close stops the Redis after it has stored its data, and waits for that until ctx
// is done. Later calls return what the first did.
func (i *Instance) Close(ctx context.Context) error {
	i.closeOnce.Do(func() { i.closeErr = i.close(ctx) })
	return i.closeErr
}
