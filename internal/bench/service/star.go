package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/seed"
	"retwis/internal/store/bulk"
)

// AfterSeed measures the delivery of posts that an author creates over HTTP right after retwis seed --star registered the
// author with 10 000 followers. The baseline is the same database once no merge mark remains.
func AfterSeed(ctx context.Context, r *measure.Run) error {
	return withService(ctx, r, func(w *world.World, c *load.Client) error { return afterSeed(ctx, r, w, c) })
}

func afterSeed(ctx context.Context, r *measure.Run, w *world.World, c *load.Client) error {
	followers, posts := r.Size(10_000, 20), r.Size(100, 5)
	accounts, err := auth.NewAccounts(w.Accounts, w.Sessions, auth.Options{})
	if err != nil {
		return err
	}
	// The worker of the service delivers what the seeder creates.
	if err := seed.New(seed.Population{Readers: followers}, bulk.New(w.Store), accounts, seed.Options{}).Run(ctx); err != nil {
		return err
	}
	token, err := logIn(ctx, c, "star", seed.Password)
	if err != nil {
		return err
	}
	first, err := deliverOverHTTP(ctx, w, c, token, posts, followers)
	if err != nil {
		return err
	}
	if marks, err := w.Raw.Keys(ctx, "*:merge_marks:*").Result(); err != nil || len(marks) > 0 {
		return errors.Join(fmt.Errorf("%d keys of merge marks remain", len(marks)), err)
	}
	later, err := deliverOverHTTP(ctx, w, c, token, posts, followers)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("%d posts over HTTP to %d new followers", posts, followers), Unit: "deliveries/s", Value: first,
		Beside: []measure.Baseline{{Name: "no merge mark", Value: later, Goal: measure.AtLeast(0.8)}},
	})
	return nil
}

// deliverOverHTTP creates posts over HTTP, and returns how many deliveries a second are made until all have arrived.
func deliverOverHTTP(ctx context.Context, w *world.World, c *load.Client, token string, posts, followers int) (float64, error) {
	const posters = 8
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(posters)
	start := time.Now()
	for range posts {
		group.Go(func() error { return c.Do(running, token, createPost(), nil) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return 0, err
	}
	return float64(posts*followers) / time.Since(start).Seconds(), nil
}
