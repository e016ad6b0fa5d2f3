package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"retwis/internal/bench"
	"retwis/internal/retwis"
)

// measureMemory measures what entries of homes and follows take in Redis: the memory of
// the server before and after, with all its overhead.
func measureMemory(ctx context.Context, r *report) error {
	const users, follows, entries = 5000, 200, 800
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	people, err := w.Crowd(ctx, "user", users)
	if err != nil {
		return err
	}
	_, stop := bench.Started(ctx, w)
	defer stop()
	if err := w.Drained(ctx); err != nil {
		return err
	}

	empty, err := memory(ctx, w)
	if err != nil {
		return err
	}
	if err := w.FillHomes(ctx, entries); err != nil {
		return err
	}
	filled, err := memory(ctx, w)
	if err != nil {
		return err
	}
	perEntry := float64(filled-empty) / (users * entries)
	r.add("Redis memory per home entry, homes of 800", fmt.Sprintf("%.1f bytes", perEntry), "", verdict(perEntry, 11))

	const batch = 50
	err = bench.Concurrently(ctx, users/batch, func(ctx context.Context, n int) error {
		all := make([]retwis.Followings, batch)
		for k := range all {
			i := n*batch + k
			all[k].Reader = people[i]
			for _, j := range rand.New(rand.NewPCG(1, uint64(i))).Perm(users)[:follows] {
				all[k].Authors = append(all[k].Authors, people[j]) // not oneself, which is passed over
			}
		}
		_, err := w.FollowAll(ctx, all)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Drained(ctx); err != nil {
		return err
	}
	var directions int64
	for _, pattern := range []string{"*:following:*", "*:fans:*"} {
		bytes, err := memoryOf(ctx, w, pattern)
		if err != nil {
			return err
		}
		directions += bytes
	}
	perDirection := float64(directions) / (2 * users * follows)
	r.add("Redis memory per direction of a follow, users with 200", fmt.Sprintf("%.1f bytes", perDirection), "", verdict(perDirection, 25))
	return nil
}

// memory is the memory of the data set.
func memory(ctx context.Context, w *bench.World) (int64, error) {
	info, err := w.Raw.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	var bytes int64
	_, rest, _ := strings.Cut(info, "used_memory:")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0, fmt.Errorf("used_memory of Redis: %w", err)
	}
	return bytes, nil
}

// memoryOf adds up the memory of all keys of a pattern, as MEMORY USAGE gives it: with key
// and overhead.
func memoryOf(ctx context.Context, w *bench.World, pattern string) (int64, error) {
	keys, err := w.Raw.Keys(ctx, pattern).Result()
	if err != nil {
		return 0, err
	}
	var total int64
	for _, key := range keys {
		bytes, err := w.Raw.MemoryUsage(ctx, key, 0).Result()
		if err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, nil
}

func verdict(got, most float64) string {
	if got <= most {
		return fmt.Sprintf("≤ %g: reached", most)
	}
	return fmt.Sprintf("≤ %g: MISSED", most)
}
