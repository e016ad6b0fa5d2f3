package bench

import (
	"context"
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

// Started runs a worker until the function returned is called.
func Started(ctx context.Context, w *World) (worker *fanout.Worker, stop func()) {
	worker = fanout.New(w.Store, fanout.Options{})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = worker.Run(ctx) }()
	return worker, func() { cancel(); <-done }
}

// Audience makes an author with followers, none of them waiting to be back-filled.
func (w *World) Audience(ctx context.Context, followers int) (retwis.UserID, error) {
	authors, err := w.Crowd(ctx, "star", 1)
	if err != nil {
		return 0, err
	}
	_, stop := Started(ctx, w)
	defer stop()
	readers, err := w.Crowd(ctx, "fan", followers)
	if err != nil {
		return 0, err
	}
	if err := w.Fans(ctx, readers, authors[0]); err != nil {
		return 0, err
	}
	return authors[0], w.Drained(ctx)
}

// FillHomes gives every home as many entries as a reader who is followed by posts has.
func (w *World) FillHomes(ctx context.Context, entries int) error {
	homes, err := w.Raw.Keys(ctx, "*:home:*").Result()
	if err != nil {
		return err
	}
	values := make([]any, entries)
	for i := range values {
		values[i] = 1760000000000016001 + int64(i)*1_000_000
	}
	for chunk := range slices.Chunk(homes, 100) {
		pipe := w.Raw.Pipeline()
		for _, home := range chunk {
			pipe.LPush(ctx, home, values...)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// FanOut makes posts, then starts a worker and returns how many deliveries a second it
// made.
func (w *World) FanOut(ctx context.Context, author retwis.UserID, posts, followers int) (float64, error) {
	for range posts {
		if err := w.PostOne(ctx, author); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	worker, stop := Started(ctx, w)
	defer stop()
	if err := w.Drained(ctx); err != nil {
		return 0, err
	}
	elapsed := time.Since(start)
	if pushed := worker.Stats().Pushed; pushed != int64(posts*followers+posts) {
		return 0, fmt.Errorf("%d deliveries, want %d to followers and %d to the public timeline", pushed, posts*followers, posts)
	}
	return float64(posts*followers) / elapsed.Seconds(), nil
}

// ZsetFanOut pushes posts to homes as sorted sets, as in Redis in Action, listing 10.15: ZADD
// and ZREMRANGEBYRANK, pipelined. They are stored as Redis stores them unless it is told
// otherwise: the setting that keeps follows small would make them slow.
func (w *World) ZsetFanOut(ctx context.Context, followers, kept, posts int) (float64, error) {
	const setting, usual = "zset-max-listpack-entries", "128"
	ours, err := w.Raw.ConfigGet(ctx, setting).Result()
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", setting, err)
	}
	if err := w.Raw.ConfigSet(ctx, setting, usual).Err(); err != nil {
		return 0, fmt.Errorf("set %s: %w", setting, err)
	}
	defer func() { _ = w.Raw.ConfigSet(ctx, setting, ours[setting]).Err() }() // the server ends soon
	members := make([]redis.Z, kept)
	for i := range members {
		members[i] = redis.Z{Score: float64(i), Member: 1760000000000016001 + int64(i)*1_000_000}
	}
	name := func(i int) string { return "zset:home:" + strconv.Itoa(i) }
	each := func(do func(redis.Pipeliner, string)) error {
		for from := 0; from < followers; from += 500 {
			pipe := w.Raw.Pipeline()
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

// RedisBenchmark returns how many pushes a second redis-benchmark makes. Where it is not
// installed the error is [exec.ErrNotFound].
func (w *World) RedisBenchmark(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, "redis-benchmark", "-s", w.socket, "-q", "-n", "2000000", "-r", "10000", "-P", "64",
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
