package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// sortedSets returns how many deliveries a second the sorted sets of Redis in Action, listing 10.15,
// make: ZADD and ZREMRANGEBYRANK, pipelined.
func sortedSets(ctx context.Context, w *world.World, followers, kept, posts int) (rate float64, err error) {
	err = withDefaultSortedSets(ctx, w, func() error {
		if err := fillSortedSets(ctx, w, followers, kept); err != nil {
			return err
		}
		start := time.Now()
		for n := range posts {
			post := redis.Z{Score: float64(kept + n), Member: world.PostID(kept + n)}
			err := eachSortedSet(ctx, w, followers, func(p redis.Pipeliner, key string) {
				p.ZAdd(ctx, key, post)
				p.ZRemRangeByRank(ctx, key, 0, int64(-kept-1))
			})
			if err != nil {
				return err
			}
		}
		rate = float64(posts*followers) / time.Since(start).Seconds()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rate, removeSortedSets(ctx, w, followers)
}

// withDefaultSortedSets calls do while Redis encodes sorted sets as it does by default: the setting
// that keeps follows small would make updates of large sets slow.
func withDefaultSortedSets(ctx context.Context, w *world.World, do func() error) (err error) {
	const setting, usual = "zset-max-listpack-entries", "128"
	ours, err := w.Raw.ConfigGet(ctx, setting).Result()
	if err != nil {
		return fmt.Errorf("read %s: %w", setting, err)
	}
	if err := w.Raw.ConfigSet(ctx, setting, usual).Err(); err != nil {
		return fmt.Errorf("set %s: %w", setting, err)
	}
	defer func() { err = errors.Join(err, w.Raw.ConfigSet(ctx, setting, ours[setting]).Err()) }()
	return do()
}

func fillSortedSets(ctx context.Context, w *world.World, sets, members int) error {
	all := make([]redis.Z, members)
	for i := range all {
		all[i] = redis.Z{Score: float64(i), Member: world.PostID(i)}
	}
	return eachSortedSet(ctx, w, sets, func(p redis.Pipeliner, key string) { p.ZAdd(ctx, key, all...) })
}

func removeSortedSets(ctx context.Context, w *world.World, sets int) error {
	return eachSortedSet(ctx, w, sets, func(p redis.Pipeliner, key string) { p.Del(ctx, key) })
}

// eachSortedSet sends commands for each key, in pipelines of 500 keys.
func eachSortedSet(ctx context.Context, w *world.World, sets int, do func(redis.Pipeliner, string)) error {
	for from := 0; from < sets; from += 500 {
		pipe := w.Raw.Pipeline()
		for i := from; i < min(from+500, sets); i++ {
			do(pipe, "zset:home:"+strconv.Itoa(i))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// redisBenchmark returns how many LPUSH a second redis-benchmark makes. If it is not installed, the
// error is [exec.ErrNotFound].
func redisBenchmark(ctx context.Context, w *world.World, requests int) (float64, error) {
	out, err := exec.CommandContext(ctx, "redis-benchmark", "-s", w.Socket, "-q", "-n", strconv.Itoa(requests), "-r", "10000", "-P", "64",
		"LPUSH", "bench:home:__rand_int__", strconv.FormatInt(world.PostID(0), 10)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	found := regexp.MustCompile(`([\d.]+) requests per second`).FindAllSubmatch(out, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("redis-benchmark: %s", out)
	}
	return strconv.ParseFloat(string(found[len(found)-1][1]), 64)
}

// pushOnly is what remains of fan-out without progress, trimming, presence and messages. KEYS 1 the followers; ARGV 1 the prefix of homes,
// 2 the post.
const pushOnly = `
local from = '-inf'
repeat
  local found = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'LIMIT', 0, 500)
  for _, follower in ipairs(found) do
    redis.call('LPUSHX', ARGV[1] .. follower, ARGV[2])
  end
  from = found[1] and '(' .. redis.call('ZSCORE', KEYS[1], found[#found])
until #found < 500`

// bareScript returns how many deliveries a second a script makes that only pushes to the homes of an author's followers.
func bareScript(ctx context.Context, w *world.World, author retwis.UserID, posts, followers int) (float64, error) {
	sets, err := w.Raw.Keys(ctx, "*:fans:"+author.String()).Result()
	if err != nil {
		return 0, fmt.Errorf("find the followers: %w", err)
	}
	script := redis.NewScript(pushOnly)
	start := time.Now()
	for n := range posts {
		for _, set := range sets {
			tag, _, _ := strings.Cut(set, ":")
			if err := script.Run(ctx, w.Raw, []string{set}, tag+":home:", world.PostID(10_000+n)).Err(); err != nil && !errors.Is(err, redis.Nil) {
				return 0, fmt.Errorf("push to the homes: %w", err)
			}
		}
	}
	return float64(posts*followers) / time.Since(start).Seconds(), nil
}
