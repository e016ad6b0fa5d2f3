// Package engine measures the delivery of posts and the memory in Redis, without the API.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// FanOut measures the delivery of posts to 10 000 followers. The baselines, on the same server, are
// the sorted sets of Redis in Action, listing 10.15, the LPUSH of redis-benchmark, and a script that only pushes to the same homes.
func FanOut(ctx context.Context, r *measure.Run) error {
	const kept = 800 // entries of each home timeline
	followers, posts := r.Size(10_000, 20), r.Size(60, 5)
	w, author, err := startWithAuthor(ctx, followers)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.FillHomes(ctx, kept, retwis.Plain); err != nil {
		return err
	}
	rate, err := deliver(ctx, w, author, posts, followers)
	if err != nil {
		return err
	}
	bare, err := bareScript(ctx, w, author, posts, followers)
	if err != nil {
		return err
	}
	zsets, err := sortedSets(ctx, w, followers, kept, max(posts/6, 1))
	if err != nil {
		return err
	}
	push := measure.Baseline{Name: "redis-benchmark -P 64 LPUSH", Goal: measure.AtLeast(0.6)}
	push.Value, err = redisBenchmark(ctx, w, r.Size(2_000_000, 10_000))
	if errors.Is(err, exec.ErrNotFound) {
		push.Unavailable, err = "redis-benchmark is not installed", nil
	}
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("fan-out to %d followers", followers), Unit: "deliveries/s", Value: rate,
		Beside: []measure.Baseline{
			{Name: "sorted sets of Redis in Action, pipelined", Value: zsets, Goal: measure.AtLeast(4)},
			push,
			{Name: "a script that only pushes", Value: bare},
		},
	})
	return nil
}

// Scale measures the cost of one delivery for authors with 100 to 1 000 000 followers. The baselines are the cost with 1 000, and that
// of a script that only pushes: with many homes, most of the time goes to memory that is in no cache of the processor.
func Scale(ctx context.Context, r *measure.Run) error {
	sizes := []int{100, 1000, 10_000, 100_000, 1_000_000}
	reference := r.Size(1000, 10)
	if reference < 1000 {
		sizes = []int{5, 10, 20}
	}
	var atReference float64
	for _, followers := range sizes {
		cost, bare, err := deliveryCost(ctx, followers, max(r.Size(400_000, 100)/followers, 4))
		if err != nil {
			return err
		}
		f := measure.Figure{
			Name: fmt.Sprintf("cost per delivery, %d followers", followers), Unit: "µs", Value: cost,
			Beside: []measure.Baseline{{Name: "a script that only pushes", Value: bare}},
		}
		if followers == reference {
			atReference = cost
		}
		if followers > reference {
			f.Beside = append(f.Beside, measure.Baseline{
				Name: fmt.Sprintf("%d followers", reference), Value: atReference, Goal: measure.AtMost(1.25),
			})
		}
		r.Add(f)
	}
	return nil
}

// deliveryCost returns the time of one delivery in microseconds, and of one by a script that only pushes. Each is the best of
// three: other processes only make it slower.
func deliveryCost(ctx context.Context, followers, posts int) (cost, bare float64, err error) {
	w, author, err := startWithAuthor(ctx, followers)
	if err != nil {
		return 0, 0, err
	}
	defer w.Close()
	if _, err := deliver(ctx, w, author, 4, followers); err != nil { // to warm up
		return 0, 0, err
	}
	var best, bestBare float64
	for range 3 {
		rate, err := deliver(ctx, w, author, posts, followers)
		if err != nil {
			return 0, 0, err
		}
		bareRate, err := bareScript(ctx, w, author, posts, followers)
		if err != nil {
			return 0, 0, err
		}
		best, bestBare = max(best, rate), max(bestBare, bareRate)
	}
	return 1e6 / best, 1e6 / bestBare, nil
}

// startWithAuthor starts a database with one author who has followers. The caller closes it.
func startWithAuthor(ctx context.Context, followers int) (*world.World, retwis.UserID, error) {
	w, err := world.Start(ctx)
	if err != nil {
		return nil, 0, err
	}
	author, err := w.AddAuthor(ctx, followers)
	if err != nil {
		w.Close()
		return nil, 0, err
	}
	return w, author, nil
}

// deliver creates posts, then starts a worker and returns how many deliveries a second it makes.
func deliver(ctx context.Context, w *world.World, author retwis.UserID, posts, followers int) (float64, error) {
	return deliverBehind(ctx, w, author, posts, followers, 0)
}

// deliverBehind does the same if posts wait in the outbox that every home holds already.
func deliverBehind(ctx context.Context, w *world.World, author retwis.UserID, posts, followers, waiting int) (float64, error) {
	for range posts {
		if err := w.AddPost(ctx, author); err != nil {
			return 0, err
		}
	}
	elapsed, err := drain(ctx, w, int64(posts*followers+posts+waiting)) // posts go to the public timeline, too
	return float64(posts*followers) / elapsed.Seconds(), err
}

// drain starts a worker and returns how long it takes to deliver what waits. It fails if these are not so many deliveries.
func drain(ctx context.Context, w *world.World, want int64) (time.Duration, error) {
	start := time.Now()
	worker, stop := w.StartWorker(ctx)
	defer stop()
	if err := w.AwaitDelivery(ctx); err != nil {
		return 0, err
	}
	elapsed := time.Since(start)
	if pushed := worker.Stats().Pushed; pushed != want {
		return 0, fmt.Errorf("%d deliveries, want %d", pushed, want)
	}
	return elapsed, nil
}

// SmallAuthors measures how long posts of authors with one follower take to arrive while a post goes
// to 200 000 followers of another author.
func SmallAuthors(ctx context.Context, r *measure.Run) error {
	followers, small := r.Size(200_000, 500), r.Size(400, 10)
	w, star, err := startWithAuthor(ctx, followers)
	if err != nil {
		return err
	}
	defer w.Close()
	authors, err := w.AddUsers(ctx, "small", small)
	if err != nil {
		return err
	}
	readers, err := w.AddUsers(ctx, "reader", small)
	if err != nil {
		return err
	}
	for i := range authors {
		if err := w.Follows.Follow(ctx, readers[i], authors[i]); err != nil {
			return err
		}
	}
	worker, stop := w.StartWorker(ctx)
	defer stop()
	if err := w.AwaitDelivery(ctx); err != nil {
		return err
	}

	before := worker.Stats().Pushed
	if err := w.AddPost(ctx, star); err != nil {
		return err
	}
	var delays []time.Duration
	for n := 0; worker.Stats().Pushed-before < int64(followers) || n == 0; n++ {
		delay, err := arrival(ctx, w, authors[n%small], readers[n%small], n)
		if err != nil {
			return err
		}
		delays = append(delays, delay)
	}
	slices.Sort(delays)
	r.Add(measure.Figure{
		Name: fmt.Sprintf("p99 of small authors beside a post to %d", followers), Unit: "ms",
		Value: float64(delays[len(delays)*99/100].Microseconds()) / 1000, Goal: measure.AtMost(100),
	})
	return nil
}

// arrival returns how long a post takes until it is the first of a reader's home timeline.
func arrival(ctx context.Context, w *world.World, author, reader retwis.UserID, n int) (time.Duration, error) {
	text := fmt.Sprint("small ", n)
	if err := w.AddPostOf(ctx, author, text); err != nil {
		return 0, err
	}
	start := time.Now()
	for {
		page, err := w.Timelines.Page(ctx, retwis.Home(reader), retwis.Page{First: 1})
		if err != nil {
			return 0, err
		}
		if len(page.Edges) > 0 && page.Edges[0].Post.Text == text {
			return time.Since(start), nil
		}
	}
}
