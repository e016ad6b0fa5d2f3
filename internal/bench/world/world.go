// Package world sets up what is measured: a database on a redis-server of its own, with users,
// follows and posts.
package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redisproc"
	"retwis/internal/store"
)

// startTime is how long redis-server may take to become ready.
const startTime = 15 * time.Second

// setUpTimeout is how long Redis may take to answer while a world is filled, also on a busy machine.
const setUpTimeout = time.Minute

// World is a database on a redis-server of its own, without persistence.
type World struct {
	*store.Store
	Raw    *redis.Client // for measurements of Redis itself
	URL    string
	Socket string
	close  func()
}

// Close stops the server and removes its files.
func (w *World) Close() { w.close() }

// Start starts a redis-server with an empty database. Without an installed redis-server the error
// is [redisproc.ErrMissing].
func Start(ctx context.Context) (*World, error) {
	path, err := redisproc.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find redis-server: %w", err)
	}
	const socket = "s"
	dir, err := redisproc.SocketDir("rb", socket)
	if err != nil {
		return nil, fmt.Errorf("make a directory for redis-server: %w", err)
	}
	w := &World{Socket: filepath.Join(dir, socket)}
	server, err := redisproc.Start(path, redisproc.Options{
		Args: []string{
			"--port", "0", "--unixsocket", w.Socket, "--save", "", "--appendonly", "no", "--dir", dir,
			"--zset-max-listpack-entries", "1024", "--hash-max-listpack-value", "1024", "--list-max-listpack-size", "100",
		},
		DeathSignal: syscall.SIGKILL,
	})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	w.close = sync.OnceFunc(func() {
		if w.Store != nil {
			_ = w.Store.Close()
			_ = w.Raw.Close()
		}
		_ = server.Kill()
		_ = os.RemoveAll(dir)
	})
	waiting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := server.Ready(waiting, "unix", w.Socket, nil); err != nil {
		w.close()
		return nil, err
	}
	w.URL = "unix://" + w.Socket + "?db=0"
	w.Raw = redis.NewClient(&redis.Options{Network: "unix", Addr: w.Socket, ReadTimeout: time.Minute})
	if w.Store, err = store.Open(ctx, store.Options{URL: w.URL, Timeout: setUpTimeout}); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// Info returns the sum of some fields of a section of INFO, in the unit of Redis.
func (w *World) Info(ctx context.Context, section string, fields ...string) (float64, error) {
	info, err := w.Raw.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, field := range fields {
		var value float64
		_, rest, _ := strings.Cut(info, field+":")
		if _, err := fmt.Sscan(rest, &value); err != nil {
			return 0, fmt.Errorf("read %s of Redis: %w", field, err)
		}
		sum += value
	}
	return sum, nil
}

// Memory returns the size of the data set in bytes.
func (w *World) Memory(ctx context.Context) (int64, error) {
	bytes, err := w.Info(ctx, "memory", "used_memory")
	return int64(bytes), err
}

// MemoryOf adds up MEMORY USAGE of all keys that match a pattern.
func (w *World) MemoryOf(ctx context.Context, pattern string) (int64, error) {
	keys, err := w.Raw.Keys(ctx, pattern).Result()
	if err != nil {
		return 0, err
	}
	var total int64
	for _, key := range keys {
		bytes, err := w.Raw.MemoryUsage(ctx, key, 0).Result()
		if err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, nil
}
