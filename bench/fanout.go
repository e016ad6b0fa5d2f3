package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"time"

	"retwis/internal/bench"
	"retwis/internal/retwis"
)

// measureFanOut compares the delivery of posts to 10 000 followers with the sorted sets
// of Redis in Action, listing 10.15, and with the fastest pushes that redis-benchmark
// makes, all on the same server.
func measureFanOut(ctx context.Context, r *report) error {
	const followers, kept, posts = 10_000, 800, 60
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	author, err := w.Audience(ctx, followers)
	if err != nil {
		return err
	}
	if err := w.FillHomes(ctx, kept); err != nil {
		return err
	}
	rate, err := w.FanOut(ctx, author, posts, followers)
	if err != nil {
		return err
	}
	zsets, err := w.ZsetFanOut(ctx, followers, kept, 10)
	if err != nil {
		return err
	}
	pushes, err := w.RedisBenchmark(ctx)
	if err != nil {
		return err
	}
	r.add("fan-out to 10 000 followers, deliveries/s", thousands(rate), "zset pipeline "+thousands(zsets), ratio(rate/zsets, 4))
	r.add("", "", "redis-benchmark -P 64 LPUSH "+thousands(pushes), ratio(rate/pushes, 0.5))
	return nil
}

// measureScale shows what one delivery costs from 100 to 100 000 followers.
func measureScale(ctx context.Context, r *report) error {
	var atThousand float64
	for _, followers := range []int{100, 1000, 10_000, 100_000} {
		w, err := bench.NewWorld(ctx)
		if err != nil {
			return err
		}
		err = func() error {
			defer w.Close()
			author, err := w.Audience(ctx, followers)
			if err != nil {
				return err
			}
			// Once to warm up, then the best of three: other processes only make it slower.
			posts := max(400_000/followers, 4)
			if _, err := w.FanOut(ctx, author, 4, followers); err != nil {
				return err
			}
			var best float64
			for range 3 {
				rate, err := w.FanOut(ctx, author, posts, followers)
				if err != nil {
					return err
				}
				best = max(best, rate)
			}
			cost := 1e6 / best
			if followers == 1000 {
				atThousand = cost
			}
			comparison, goal := "", ""
			if followers > 1000 {
				comparison = fmt.Sprintf("%+.0f %% against 1 000 followers", 100*(cost/atThousand-1))
				goal = "within 25 %"
			}
			r.add(fmt.Sprintf("cost per delivery, %s followers", thousands(float64(followers))), fmt.Sprintf("%.2f µs", cost), comparison, goal)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// measureSmallAuthors measures how long the posts of small authors take to arrive while
// one author's post goes to 200 000 followers.
func measureSmallAuthors(ctx context.Context, r *report) error {
	const followers, small = 200_000, 400
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	star, err := w.Audience(ctx, followers)
	if err != nil {
		return err
	}
	authors, err := w.Crowd(ctx, "small", small)
	if err != nil {
		return err
	}
	readers, err := w.Crowd(ctx, "reader", small)
	if err != nil {
		return err
	}
	for i := range authors {
		if err := w.Follow(ctx, readers[i], authors[i]); err != nil {
			return err
		}
	}
	worker, stop := bench.Started(ctx, w)
	defer stop()
	if err := w.Drained(ctx); err != nil {
		return err
	}

	before := worker.Stats().Pushed
	if err := w.PostOne(ctx, star); err != nil {
		return err
	}
	var delays []time.Duration
	meanwhile := 0
	for worker.Stats().Pushed-before < followers {
		i := meanwhile % small
		meanwhile++
		edge, err := w.CreatePost(ctx, retwis.NewPost{Author: authors[i], Text: "small", IdempotencyKey: rand.Text()})
		if err != nil {
			return err
		}
		start := time.Now()
		for {
			page, err := w.Page(ctx, retwis.Home(readers[i]), retwis.Page{First: 1})
			if err != nil {
				return err
			}
			if len(page.Edges) > 0 && page.Edges[0].Post.ID == edge.Post.ID {
				break
			}
		}
		delays = append(delays, time.Since(start))
	}
	slices.Sort(delays)
	p99 := delays[len(delays)*99/100]
	r.add(fmt.Sprintf("small authors beside a post to 200 000, p99 of %d", len(delays)), p99.Round(100*time.Microsecond).String(), "", "≤ 100 ms")
	return nil
}

// ratio prints a ratio and whether it reaches a goal.
func ratio(got, goal float64) string {
	verdict := "reached"
	if got < goal {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%.2f ×, goal ≥ %.1f ×: %s", got, goal, verdict)
}

func thousands(n float64) string {
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	var out []byte
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ' ')
		}
		out = append(out, digits[i])
	}
	return string(out)
}
