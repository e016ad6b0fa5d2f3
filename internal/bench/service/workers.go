package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/page"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/faultproxy"
	"retwis/internal/retwis"
)

const (
	exchangeTime   = 5 * time.Millisecond // of each exchange with Redis, in addition
	readRate       = 200                  // pages a second
	smallFollowers = 32                   // of each author: a post goes to almost every partition
)

// Workers measures how fast two workers in processes of their own deliver posts of small authors while clients read pages from an
// API process. Deliveries are held back beside operations, and must not fall behind where Redis answers slowly. The baselines
// are the two workers without pages, and a worker in the process of the API.
func Workers(ctx context.Context, r *measure.Run) error {
	beside, err := deliverBeside(ctx, r, 2, readRate)
	if err != nil {
		return err
	}
	alone, err := deliverBeside(ctx, r, 2, 0)
	if err != nil {
		return err
	}
	within, err := deliverBeside(ctx, r, 0, readRate)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("two worker processes beside %d pages/s, Redis %s away", readRate, exchangeTime), Unit: "deliveries/s", Value: beside,
		Beside: []measure.Baseline{
			{Name: "without pages", Value: alone, Goal: measure.AtLeast(0.6)},
			{Name: "a worker in the API process", Value: within},
		},
	})
	return nil
}

// deliverBeside returns how many deliveries a second are made while pages are read at a rate. Without worker processes, the API process
// has a worker.
func deliverBeside(ctx context.Context, r *measure.Run, workers, pagesPerSecond int) (rate float64, err error) {
	w, err := world.Start(ctx)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	authors, err := addSmallAuthors(ctx, w, r.Size(40, 4))
	if err != nil {
		return 0, err
	}
	redis, err := faultproxy.New("unix", w.Socket)
	if err != nil {
		return 0, err
	}
	defer redis.Close()
	redis.Delay(exchangeTime)
	api, c, err := start(ctx, r, redis.URL(), fmt.Sprintf("--worker=%t", workers == 0))
	if err != nil {
		return 0, err
	}
	defer api.Stop()
	defer c.Close()
	for range workers {
		worker, err := process.StartWorker(ctx, r.Service(), "--redis-url", redis.URL())
		if err != nil {
			return 0, err
		}
		defer worker.Stop()
	}
	token, _, err := register(ctx, c, "reader")
	if err != nil {
		return 0, err
	}

	reading, stop := context.WithCancel(ctx)
	defer stop()
	var readers errgroup.Group
	if pagesPerSecond > 0 {
		readers.Go(func() error {
			_, err := load.Loop{Clients: page.Clients, Rate: float64(pagesPerSecond)}.Repeat(reading, time.Hour, page.Reader(c, token))
			return err
		})
	}
	rate, err = deliverSmall(ctx, w, authors, r.Size(1000, 10))
	stop()
	if failed := readers.Wait(); !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return rate, err
}

// addSmallAuthors adds authors with few followers.
func addSmallAuthors(ctx context.Context, w *world.World, n int) ([]retwis.UserID, error) {
	authors, err := w.AddUsers(ctx, "author", n)
	if err != nil {
		return nil, err
	}
	fans, err := w.AddUsers(ctx, "fan", smallFollowers)
	if err != nil {
		return nil, err
	}
	for _, author := range authors {
		if err := w.AddFollowers(ctx, author, fans); err != nil {
			return nil, err
		}
	}
	_, stop := w.StartWorker(ctx)
	defer stop()
	return authors, w.AwaitDelivery(ctx)
}

// deliverSmall creates posts, and returns how many deliveries a second are made until all have arrived.
func deliverSmall(ctx context.Context, w *world.World, authors []retwis.UserID, posts int) (float64, error) {
	began := time.Now()
	err := world.Concurrently(ctx, posts, func(ctx context.Context, i int) error {
		return w.AddPost(ctx, authors[i%len(authors)])
	})
	if err != nil {
		return 0, err
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return 0, err
	}
	return float64(posts*smallFollowers) / time.Since(began).Seconds(), nil
}
