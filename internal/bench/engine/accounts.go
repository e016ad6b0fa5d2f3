package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// Accounts measures what an account, a session and a post take in Redis, with all overhead: the memory
// of the server before and after.
func Accounts(ctx context.Context, r *measure.Run) error {
	users, posts := r.Size(20_000, 50), r.Size(50_000, 100)
	w, err := world.Start(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	_, stop := w.StartWorker(ctx)
	defer stop()

	people := make([]retwis.UserID, users)
	text := strings.Repeat("0123456789", 10)
	for _, step := range []struct {
		name string
		n    int
		do   func(ctx context.Context, i int) error
	}{
		{"Redis memory per account without follows and posts", users, func(ctx context.Context, i int) error {
			user, err := w.Accounts.Register(ctx, retwis.Registration{
				Username:     fmt.Sprintf("somebody_%06d", i),
				DisplayName:  fmt.Sprintf("Somebody %d", i),
				PasswordHash: strings.Repeat("x", 97), // the length of a stored hash
			})
			if err == nil {
				people[i] = user.ID
			}
			return err
		}},
		{"Redis memory per session", users, func(ctx context.Context, i int) error {
			return w.Sessions.CreateSession(ctx, retwis.NewSession{
				User:      people[i],
				Key:       retwis.SessionKey{Bucket: people[i].Bucket(), Hash: fmt.Sprintf("%064x", i)},
				UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
			})
		}},
		{"Redis memory per post of 100 characters, on its first day", posts, func(ctx context.Context, i int) error {
			_, err := w.Posts.CreatePost(ctx, retwis.NewPost{Author: people[i%users], Text: text, IdempotencyKey: rand.Text()})
			return err
		}},
	} {
		bytes, err := growth(ctx, w, step.n, func() error { return world.Concurrently(ctx, step.n, step.do) })
		if err != nil {
			return err
		}
		r.Add(measure.Figure{Name: step.name, Unit: "bytes", Value: bytes})
	}
	bytes, err := w.MemoryOf(ctx, "*:idem:*")
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "of these, released after a day", Unit: "bytes", Value: float64(bytes) / float64(posts)})
	return nil
}
