package main

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/seed"
	"retwis/internal/store"
)

func openTestStore(t *testing.T, url string) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// members reads all users of a population.
func members(t *testing.T, db *store.Store, p seed.Population) []*retwis.User {
	t.Helper()
	all := make([]*retwis.User, p.Size())
	for i := range all {
		user, err := db.Accounts.UserByName(t.Context(), p.Member(i).Username)
		if err != nil {
			t.Fatalf("%s: %v", p.Member(i).Username, err)
		}
		all[i] = user
	}
	return all
}

// settled waits until the outboxes are empty. The back-fill of a pending follow would reset the timeline of its
// reader.
func settled(t *testing.T, url string) {
	t.Helper()
	db := openTestStore(t, url)
	eventually(t, "the outboxes are empty", func() bool {
		n, err := db.Outbox.OutboxLength(t.Context())
		return err == nil && n == 0
	})
}

func drained(t *testing.T, db *store.Store) {
	t.Helper()
	if n, err := db.Outbox.OutboxLength(t.Context()); err != nil || n != 0 {
		t.Errorf("%d entries in the outboxes: %v", n, err)
	}
}

// sound fails the test if retwis check finds a problem.
func sound(t *testing.T, env []string) {
	t.Helper()
	if code, stdout, stderr := invoke(t, env, "check"); code != 0 {
		t.Errorf("check: code %d, printed\n%s%s", code, stdout, stderr)
	}
}

// redisOf returns the URL of the Redis of an environment.
func redisOf(env []string) string {
	_, url, _ := strings.Cut(env[len(env)-1], "=")
	return url
}

// onlyKey returns the one key that matches a pattern.
func onlyKey(t *testing.T, client *redis.Client, pattern string) string {
	t.Helper()
	found, err := client.Keys(t.Context(), pattern).Result()
	if err != nil || len(found) != 1 {
		t.Fatalf("keys like %s: %v, %v", pattern, found, err)
	}
	return found[0]
}
