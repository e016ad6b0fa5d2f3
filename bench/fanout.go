package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/retwis"
)

func key() string { return rand.Text() }

// started runs a worker until the function returned is called.
func started(ctx context.Context, w *world) (worker *fanout.Worker, stop func()) {
	worker = fanout.New(w.Store, fanout.Options{})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = worker.Run(ctx) }()
	return worker, func() { cancel(); <-done }
}

// measureFanOut compares the delivery of posts to 10 000 followers with the sorted sets
// of Redis in Action, listing 10.15, and with the fastest pushes that redis-benchmark
// makes, all on the same server.
func measureFanOut(ctx context.Context, r *report) error {
	const followers, kept, posts = 10_000, 800, 60
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	author, err := w.audience(ctx, followers)
	if err != nil {
		return err
	}
	if err := w.fillHomes(ctx, kept); err != nil {
		return err
	}
	rate, err := w.fanOut(ctx, author, posts, followers)
	if err != nil {
		return err
	}
	zsets, err := zsetFanOut(ctx, w.raw, followers, kept, 10)
	if err != nil {
		return err
	}
	pushes, err := redisBenchmark(ctx, w.socket)
	if err != nil {
		return err
	}
	r.add("fan-out to 10 000 followers, deliveries/s", thousands(rate), "zset pipeline "+thousands(zsets), ratio(rate/zsets, 4))
	r.add("", "", "redis-benchmark -P 64 LPUSH "+thousands(pushes), ratio(rate/pushes, 0.5))
	return nil
}

// audience makes an author with followers, none of them waiting to be back-filled.
func (w *world) audience(ctx context.Context, followers int) (retwis.UserID, error) {
	authors, err := w.crowd(ctx, "star", 1)
	if err != nil {
		return 0, err
	}
	_, stop := started(ctx, w)
	defer stop()
	readers, err := w.crowd(ctx, "fan", followers)
	if err != nil {
		return 0, err
	}
	if err := w.follow(ctx, readers, authors[0]); err != nil {
		return 0, err
	}
	return authors[0], w.drained(ctx)
}

// fillHomes gives every home as many entries as a reader who is followed by posts has.
func (w *world) fillHomes(ctx context.Context, entries int) error {
	homes, err := w.raw.Keys(ctx, "*:home:*").Result()
	if err != nil {
		return err
	}
	values := make([]any, entries)
	for i := range values {
		values[i] = 1760000000000016001 + int64(i)*1_000_000
	}
	for chunk := range slices.Chunk(homes, 100) {
		pipe := w.raw.Pipeline()
		for _, home := range chunk {
			pipe.LPush(ctx, home, values...)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanOut makes posts, then starts a worker and returns how many deliveries a second it
// made.
func (w *world) fanOut(ctx context.Context, author retwis.UserID, posts, followers int) (float64, error) {
	for range posts {
		if err := w.post(ctx, author); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	worker, stop := started(ctx, w)
	defer stop()
	if err := w.drained(ctx); err != nil {
		return 0, err
	}
	elapsed := time.Since(start)
	if pushed := worker.Stats().Pushed; pushed != int64(posts*followers+posts) {
		return 0, fmt.Errorf("%d deliveries, want %d to followers and %d to the public timeline", pushed, posts*followers, posts)
	}
	return float64(posts*followers) / elapsed.Seconds(), nil
}

// zsetFanOut pushes posts to homes as sorted sets: ZADD and ZREMRANGEBYRANK, pipelined.
func zsetFanOut(ctx context.Context, client *redis.Client, followers, kept, posts int) (float64, error) {
	members := make([]redis.Z, kept)
	for i := range members {
		members[i] = redis.Z{Score: float64(i), Member: 1760000000000016001 + int64(i)*1_000_000}
	}
	name := func(i int) string { return "zset:home:" + strconv.Itoa(i) }
	each := func(do func(redis.Pipeliner, string)) error {
		for from := 0; from < followers; from += 500 {
			pipe := client.Pipeline()
			for i := from; i < min(from+500, followers); i++ {
				do(pipe, name(i))
			}
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if err := each(func(p redis.Pipeliner, home string) { p.ZAdd(ctx, home, members...) }); err != nil {
		return 0, err
	}
	start := time.Now()
	for n := range posts {
		post := redis.Z{Score: float64(kept + n), Member: 1860000000000016001 + int64(n)}
		err := each(func(p redis.Pipeliner, home string) {
			p.ZAdd(ctx, home, post)
			p.ZRemRangeByRank(ctx, home, 0, int64(-kept-1))
		})
		if err != nil {
			return 0, err
		}
	}
	rate := float64(posts*followers) / time.Since(start).Seconds()
	return rate, each(func(p redis.Pipeliner, home string) { p.Del(ctx, home) })
}

func redisBenchmark(ctx context.Context, socket string) (float64, error) {
	out, err := exec.CommandContext(ctx, "redis-benchmark", "-s", socket, "-q", "-n", "2000000", "-r", "10000", "-P", "64",
		"LPUSH", "bench:home:__rand_int__", "1760000000000016001").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	found := regexp.MustCompile(`([\d.]+) requests per second`).FindAllSubmatch(out, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("redis-benchmark: %s", out)
	}
	return strconv.ParseFloat(string(found[len(found)-1][1]), 64)
}

// measureScale shows what one delivery costs from 100 to 100 000 followers.
func measureScale(ctx context.Context, r *report) error {
	var atThousand float64
	for _, followers := range []int{100, 1000, 10_000, 100_000} {
		w, err := newWorld(ctx)
		if err != nil {
			return err
		}
		err = func() error {
			defer w.close()
			author, err := w.audience(ctx, followers)
			if err != nil {
				return err
			}
			// Once to warm up, then the best of three: other processes only make it slower.
			posts := max(400_000/followers, 4)
			if _, err := w.fanOut(ctx, author, 4, followers); err != nil {
				return err
			}
			var best float64
			for range 3 {
				rate, err := w.fanOut(ctx, author, posts, followers)
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
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	star, err := w.audience(ctx, followers)
	if err != nil {
		return err
	}
	authors, err := w.crowd(ctx, "small", small)
	if err != nil {
		return err
	}
	readers, err := w.crowd(ctx, "reader", small)
	if err != nil {
		return err
	}
	for i := range authors {
		if err := w.Follow(ctx, readers[i], authors[i]); err != nil {
			return err
		}
	}
	worker, stop := started(ctx, w)
	defer stop()
	if err := w.drained(ctx); err != nil {
		return err
	}

	before := worker.Stats().Pushed
	if err := w.post(ctx, star); err != nil {
		return err
	}
	var delays []time.Duration
	meanwhile := 0
	for worker.Stats().Pushed-before < followers {
		i := meanwhile % small
		meanwhile++
		edge, err := w.CreatePost(ctx, retwis.NewPost{Author: authors[i], Text: "small", IdempotencyKey: key()})
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
