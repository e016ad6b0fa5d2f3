package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"retwis/internal/bench"
	"retwis/internal/retwis"
)

// measureAccounts measures what an account and a post take in Redis, with all overhead:
// the memory of the server before and after.
func measureAccounts(ctx context.Context, r *report) error {
	const users, posts = 20_000, 50_000
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	_, stop := bench.Started(ctx, w)
	defer stop()
	step := func(what string, n int, do func() error) error {
		before, err := memory(ctx, w)
		if err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
		if err := w.Drained(ctx); err != nil {
			return err
		}
		after, err := memory(ctx, w)
		if err != nil {
			return err
		}
		r.add(what, fmt.Sprintf("%d bytes", (after-before)/int64(n)), "", "")
		return nil
	}

	people := make([]retwis.UserID, users)
	err = step("Redis memory per account, nothing followed or posted", users, func() error {
		return bench.Concurrently(ctx, users, func(ctx context.Context, i int) error {
			user, err := w.Register(ctx, retwis.Registration{
				Username:     fmt.Sprintf("somebody_%06d", i),
				DisplayName:  fmt.Sprintf("Somebody %d", i),
				PasswordHash: strings.Repeat("x", 97), // as long as what is stored
			})
			if err == nil {
				people[i] = user.ID
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	err = step("Redis memory per session", users, func() error {
		return bench.Concurrently(ctx, users, func(ctx context.Context, i int) error {
			return w.CreateSession(ctx, retwis.NewSession{
				User:      people[i],
				Key:       retwis.SessionKey{Bucket: people[i].Bucket(), Hash: fmt.Sprintf("%064x", i)},
				UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
			})
		})
	})
	if err != nil {
		return err
	}
	text := strings.Repeat("0123456789", 10)
	err = step("Redis memory per post of 100 characters, on its first day", posts, func() error {
		return bench.Concurrently(ctx, posts, func(ctx context.Context, i int) error {
			_, err := w.CreatePost(ctx, retwis.NewPost{Author: people[i%users], Text: text, IdempotencyKey: rand.Text()})
			return err
		})
	})
	if err != nil {
		return err
	}
	bytes, err := memoryOf(ctx, w, "*:idem:*")
	if err != nil {
		return err
	}
	r.add("of these, gone after a day", fmt.Sprintf("%d bytes", bytes/posts), "", "")
	return nil
}
