// Package bench measures the engine beside what the same Redis can do otherwise, in the same
// run.
package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/redisproc"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
	"retwis/internal/store"
)

// World is an empty database on a redis-server of its own, without persistence.
type World struct {
	*store.Store
	Raw    *redis.Client
	URL    string
	socket string
	close  func()
}

// Close ends the server and removes what it left.
func (w *World) Close() { w.close() }

// NewWorld starts a redis-server. Where there is none the error is [redisproc.ErrMissing].
func NewWorld(ctx context.Context) (*World, error) {
	path, err := redisproc.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find redis-server: %w", err)
	}
	const socket = "s"
	dir, err := redisproc.SocketDir("rb", socket)
	if err != nil {
		return nil, fmt.Errorf("make a directory for redis-server: %w", err)
	}
	w := &World{socket: filepath.Join(dir, socket)}
	server, err := redisproc.Start(path, redisproc.Options{
		Args: []string{
			"--port", "0", "--unixsocket", w.socket, "--save", "", "--appendonly", "no", "--dir", dir,
			"--zset-max-listpack-entries", "1024", "--list-max-listpack-size", "100",
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
	if err := server.Ready(waiting, "unix", w.socket, nil); err != nil {
		w.close()
		return nil, err
	}
	w.URL = "unix://" + w.socket + "?db=0"
	w.Raw = redis.NewClient(&redis.Options{Network: "unix", Addr: w.socket, ReadTimeout: time.Minute})
	if w.Store, err = store.Open(ctx, store.Options{URL: w.URL}); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// Crowd registers n users.
func (w *World) Crowd(ctx context.Context, prefix string, n int) ([]retwis.UserID, error) {
	ids := make([]retwis.UserID, n)
	const batch = 200
	err := Concurrently(ctx, (n+batch-1)/batch, func(ctx context.Context, i int) error {
		chunk := ids[i*batch : min((i+1)*batch, n)]
		registrations := make([]retwis.Registration, len(chunk))
		for k := range chunk {
			registrations[k] = retwis.Registration{Username: fmt.Sprint(prefix, i*batch+k), PasswordHash: "x"}
		}
		made, err := w.RegisterAll(ctx, registrations)
		copy(chunk, made)
		return err
	})
	return ids, err
}

// Fans makes readers follow an author.
func (w *World) Fans(ctx context.Context, readers []retwis.UserID, author retwis.UserID) error {
	return Concurrently(ctx, len(readers), func(ctx context.Context, i int) error {
		return w.Follow(ctx, readers[i], author)
	})
}

// PostOne makes a post of the usual length.
func (w *World) PostOne(ctx context.Context, author retwis.UserID) error {
	_, err := w.CreatePost(ctx, retwis.NewPost{
		Author: author, Text: "a post of the usual length, which is about as long as this one", IdempotencyKey: rand.Text(),
	})
	return err
}

// Drained waits until the outboxes are empty.
func (w *World) Drained(ctx context.Context) error {
	for {
		waiting, err := w.OutboxLength(ctx)
		if err != nil || waiting == 0 {
			return err
		}
		if err := sleep.For(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// Concurrently does n things, 32 at a time.
func Concurrently(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
