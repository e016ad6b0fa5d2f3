package world

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/fanout"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
	"retwis/internal/store/bulk"
	"retwis/internal/store/rdb"
)

// PostText is a post of the usual length.
const PostText = "a post of the usual length, which is about as long as this one"

// StartWorker runs a worker until stop is called.
func (w *World) StartWorker(ctx context.Context) (worker *fanout.Worker, stop func()) {
	worker = fanout.New(w.Outbox, w.Tasks, fanout.Options{})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = worker.Run(ctx) }()
	return worker, func() { cancel(); <-done }
}

// AddUsers registers n users, named by the prefix and a number.
func (w *World) AddUsers(ctx context.Context, prefix string, n int) ([]retwis.UserID, error) {
	ids := make([]retwis.UserID, n)
	const batch = 200
	err := Concurrently(ctx, (n+batch-1)/batch, func(ctx context.Context, i int) error {
		chunk := ids[i*batch : min((i+1)*batch, n)]
		registrations := make([]retwis.Registration, len(chunk))
		for k := range chunk {
			registrations[k] = retwis.Registration{Username: fmt.Sprint(prefix, i*batch+k), PasswordHash: "x"}
		}
		registered, err := bulk.New(w.Store).RegisterAll(ctx, registrations)
		copy(chunk, registered)
		return err
	})
	return ids, err
}

// AddFollowers makes readers follow an author.
func (w *World) AddFollowers(ctx context.Context, author retwis.UserID, readers []retwis.UserID) error {
	return Concurrently(ctx, len(readers), func(ctx context.Context, i int) error {
		return w.Follows.Follow(ctx, readers[i], author)
	})
}

// AddAuthor registers an author with followers, and returns when every back-fill is done.
func (w *World) AddAuthor(ctx context.Context, followers int) (retwis.UserID, error) {
	authors, err := w.AddUsers(ctx, "star", 1)
	if err != nil {
		return 0, err
	}
	_, stop := w.StartWorker(ctx)
	defer stop()
	readers, err := w.AddUsers(ctx, "fan", followers)
	if err != nil {
		return 0, err
	}
	if err := w.AddFollowers(ctx, authors[0], readers); err != nil {
		return 0, err
	}
	return authors[0], w.AwaitDelivery(ctx)
}

// AddReader registers a reader who follows authors with one post each, and returns a session
// token of the reader.
func (w *World) AddReader(ctx context.Context, authors int) (token string, err error) {
	readers, err := w.AddUsers(ctx, "reader", 1)
	if err != nil {
		return "", err
	}
	followed, err := w.AddUsers(ctx, "writer", authors)
	if err != nil {
		return "", err
	}
	for _, author := range followed {
		if err := w.Follows.Follow(ctx, readers[0], author); err != nil {
			return "", err
		}
		if err := w.AddPost(ctx, author); err != nil {
			return "", err
		}
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return "", err
	}
	token, key := auth.NewToken(readers[0].Bucket())
	return token, w.Sessions.CreateSession(ctx, retwis.NewSession{User: readers[0], Key: key})
}

// AddPost creates a post of the usual length.
func (w *World) AddPost(ctx context.Context, author retwis.UserID) error {
	return w.AddPostOf(ctx, author, PostText)
}

// AddPostOf creates a post of a text.
func (w *World) AddPostOf(ctx context.Context, author retwis.UserID, text string) error {
	_, err := w.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: text, IdempotencyKey: rand.Text()})
	return err
}

// FillHomes gives every home timeline the same number of entries, below those that it has.
func (w *World) FillHomes(ctx context.Context, entries int, elementOf func(retwis.PostID) retwis.Element) error {
	homes, err := w.Raw.Keys(ctx, "*:home:*").Result()
	if err != nil {
		return err
	}
	values := make([]any, entries)
	for i := range values {
		values[i] = elementOf(retwis.PostID(PostID(entries - i))).String()
	}
	for chunk := range slices.Chunk(homes, 100) {
		pipe := w.Raw.Pipeline()
		for _, home := range chunk {
			pipe.RPop(ctx, home) // the end marker
			pipe.RPush(ctx, home, values...)
			pipe.RPush(ctx, home, rdb.ListComplete)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// PostID returns the n-th of a sequence of numbers that are as long as ids of posts.
func PostID(n int) int64 { return 1760000000000016001 + int64(n)*1_000_000 }

// AwaitDelivery returns when all outboxes are empty.
func (w *World) AwaitDelivery(ctx context.Context) error {
	for {
		waiting, err := w.Outbox.OutboxLength(ctx)
		if err != nil || waiting == 0 {
			return err
		}
		if err := sleep.For(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// Concurrently calls do for 0 to n-1, 32 at a time.
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
