package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"retwis/internal/redisproc"
)

const (
	stallLimit    = 30 * time.Second // without an answer or progress in loading
	progressEvery = 5 * time.Second  // between two log lines about loading

	runPrefix  = "retwis"
	socketName = "redis.sock"
)

// child is a redis-server that runs as a child process.
type child struct {
	proc   *redisproc.Process
	lock   *os.File
	run    string // directory of the socket
	socket string
	log    *slog.Logger
}

func startChild(ctx context.Context, path string, opts Options) (_ *Instance, err error) {
	c := &child{log: opts.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.release())
		}
	}()

	if opts.DataDir == "" {
		return nil, errors.New("start Redis: no data directory was given")
	}
	dir, err := filepath.Abs(opts.DataDir)
	if err != nil {
		return nil, fmt.Errorf("start Redis: find the data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("start Redis: create the data directory: %w", err)
	}
	if c.lock, err = lockDir(ctx, dir, opts.Log); err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	if c.run, err = redisproc.SocketDir(runPrefix, socketName); err != nil {
		return nil, fmt.Errorf("start Redis: create a directory for its socket: %w", err)
	}
	if err := writeOwner(c.lock, owner{os.Getpid(), c.run}); err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	c.socket = filepath.Join(c.run, socketName)

	c.proc, err = redisproc.Start(path, redisproc.Options{
		Args: args(c.socket, dir),
		// The child inherits the lock. If this process is killed, no other process may use
		// the directory until the child has written its remaining data.
		Files:       []*os.File{c.lock},
		DeathSignal: syscall.SIGTERM,
		Log:         func(line string) { opts.Log.Debug("redis-server: " + line) },
	})
	if err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	if err := c.ready(ctx); err != nil {
		_ = c.proc.Kill() // the error of ready is more important
		return nil, fmt.Errorf("start Redis on %s: %w", dir, err)
	}
	opts.Log.InfoContext(ctx, "embedded: redis-server started", "data", dir, "socket", c.socket, "pid", c.proc.PID())
	return c.instance(), nil
}

// args returns the complete configuration of the child, which reads no configuration file.
func args(socket, dir string) []string {
	return []string{
		"--port", "0",
		"--unixsocket", socket,
		"--unixsocketperm", "700",
		"--daemonize", "no",
		"--dir", dir,
		"--appendonly", "yes",
		"--appendfsync", "everysec",
		"--save", "",
		"--maxmemory-policy", "noeviction",
		// Keeps sets of follows in packed form: 20 bytes per entry instead of 100 or more.
		"--zset-max-listpack-entries", "1024",
		// Keeps accounts and posts in packed form if a text has more than 64 bytes: 40 % less memory.
		"--hash-max-listpack-value", "1024",
		// A push moves the first node of a list, so nodes of 1 KB are faster than the default of 8 KB.
		"--list-max-listpack-size", "100",
	}
}

// ready waits until the child answers. Loading may take long, so only the time without
// progress is bounded.
func (c *child) ready(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallLimit, func() {
		cancel(fmt.Errorf("no progress for %s", stallLimit))
	})
	defer stall.Stop()

	loaded := int64(-1)
	var logged time.Time
	return c.proc.Ready(ctx, "unix", c.socket, func(l redisproc.Loading) {
		if l.Loaded != loaded {
			loaded = l.Loaded
			stall.Reset(stallLimit)
		}
		if time.Since(logged) >= progressEvery {
			logged = time.Now()
			c.log.InfoContext(ctx, "embedded: redis-server is loading its data", "bytes", l.Loaded, "of", l.Total)
		}
	})
}

// instance returns the running child, and watches for its end.
func (c *child) instance() *Instance {
	closing := make(chan struct{})
	watched := make(chan struct{})
	i := &Instance{
		url:  (&url.URL{Scheme: "unix", Path: c.socket, RawQuery: "db=0"}).String(),
		done: make(chan struct{}),
	}
	i.close = func(ctx context.Context) error {
		close(closing)
		err := c.proc.Stop(ctx)
		select {
		case <-watched:
		case <-ctx.Done():
		}
		return errors.Join(err, c.release())
	}
	go func() {
		defer close(watched)
		<-c.proc.Done()
		select {
		case <-closing:
		default:
			c.log.Error("embedded: redis-server ended unexpectedly", "err", c.proc.Err())
			close(i.done)
		}
	}()
	return i
}

// release releases the resources of a child that has ended or was never started. The lock then has no owner: a process that this one is just
// starting may hold it for a moment.
func (c *child) release() error {
	var errs []error
	if c.run != "" {
		errs = append(errs, os.RemoveAll(c.run))
	}
	if c.lock != nil {
		errs = append(errs, writeOwner(c.lock, owner{}), c.lock.Close())
	}
	return errors.Join(errs...)
}
