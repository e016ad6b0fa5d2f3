package main

import (
	"context"
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
	"retwis/internal/store"
)

// world is an empty database on a server of its own.
type world struct {
	*store.Store
	raw    *redis.Client
	socket string
	url    string
	close  func()
}

func newWorld(ctx context.Context) (*world, error) {
	path, err := redisproc.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find redis-server: %w", err)
	}
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		return nil, fmt.Errorf("make a directory for redis-server: %w", err)
	}
	w := &world{socket: filepath.Join(dir, "s")}
	server, err := redisproc.Start(path, redisproc.Options{
		Args: []string{
			"--port", "0", "--unixsocket", w.socket, "--save", "", "--appendonly", "no", "--dir", dir,
			"--zset-max-listpack-entries", "1024",
		},
		DeathSignal: syscall.SIGKILL,
	})
	if err != nil {
		return nil, err
	}
	w.close = sync.OnceFunc(func() {
		if w.Store != nil {
			_ = w.Store.Close()
			_ = w.raw.Close()
		}
		_ = server.Kill()
		_ = os.RemoveAll(dir)
	})
	if err := server.Ready(ctx, "unix", w.socket, nil); err != nil {
		w.close()
		return nil, err
	}
	w.url = "unix://" + w.socket + "?db=0"
	w.raw = redis.NewClient(&redis.Options{Network: "unix", Addr: w.socket, ReadTimeout: time.Minute})
	if w.Store, err = store.Open(ctx, store.Options{URL: w.url}); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// crowd registers n users.
func (w *world) crowd(ctx context.Context, prefix string, n int) ([]retwis.UserID, error) {
	ids := make([]retwis.UserID, n)
	err := concurrently(ctx, n, func(ctx context.Context, i int) error {
		user, err := w.Register(ctx, retwis.Registration{Username: fmt.Sprint(prefix, i), PasswordHash: "x"})
		if err == nil {
			ids[i] = user.ID
		}
		return err
	})
	return ids, err
}

// follow makes readers follow an author.
func (w *world) follow(ctx context.Context, readers []retwis.UserID, author retwis.UserID) error {
	return concurrently(ctx, len(readers), func(ctx context.Context, i int) error {
		return w.Follow(ctx, readers[i], author)
	})
}

func (w *world) post(ctx context.Context, author retwis.UserID) error {
	_, err := w.CreatePost(ctx, retwis.NewPost{
		Author: author, Text: "a post of the usual length, which is about as long as this one", IdempotencyKey: key(),
	})
	return err
}

// drained waits until the outboxes are empty.
func (w *world) drained(ctx context.Context) error {
	for {
		waiting, err := w.OutboxLength(ctx)
		if err != nil || waiting == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// concurrently does n things, 32 at a time.
func concurrently(ctx context.Context, n int, do func(context.Context, int) error) error {
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
