package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// measureMemory measures what entries of homes and follows take in Redis: the memory of
// the server before and after, with all its overhead.
func measureMemory(ctx context.Context, r *report) error {
	const users, follows, entries = 5000, 200, 800
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	people, err := w.crowd(ctx, "user", users)
	if err != nil {
		return err
	}
	_, stop := started(ctx, w)
	defer stop()
	if err := w.drained(ctx); err != nil {
		return err
	}

	empty, err := w.used(ctx)
	if err != nil {
		return err
	}
	if err := w.fillHomes(ctx, entries); err != nil {
		return err
	}
	filled, err := w.used(ctx)
	if err != nil {
		return err
	}
	perEntry := float64(filled-empty) / (users * entries)
	r.add("Redis memory per home entry, homes of 800", fmt.Sprintf("%.1f bytes", perEntry), "", verdict(perEntry, 11))

	err = concurrently(ctx, users, func(ctx context.Context, i int) error {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for _, j := range random.Perm(users)[:follows] {
			if j != i {
				if err := w.Follow(ctx, people[i], people[j]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.drained(ctx); err != nil {
		return err
	}
	var directions int64
	for _, pattern := range []string{"*:following:*", "*:followers:*"} {
		bytes, err := w.usedBy(ctx, pattern)
		if err != nil {
			return err
		}
		directions += bytes
	}
	perDirection := float64(directions) / (2 * users * follows)
	r.add("Redis memory per direction of a follow, users with 200", fmt.Sprintf("%.1f bytes", perDirection), "", verdict(perDirection, 25))
	return nil
}

// used is the memory of the data set.
func (w *world) used(ctx context.Context) (int64, error) {
	info, err := w.raw.Info(ctx, "memory").Result()
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

// usedBy adds up the memory of all keys of a pattern, as MEMORY USAGE gives it: with key
// and overhead.
func (w *world) usedBy(ctx context.Context, pattern string) (int64, error) {
	keys, err := w.raw.Keys(ctx, pattern).Result()
	if err != nil {
		return 0, err
	}
	var total int64
	for _, key := range keys {
		bytes, err := w.raw.MemoryUsage(ctx, key, 0).Result()
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
