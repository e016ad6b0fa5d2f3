package enginetest

import (
	"context"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Client returns a client that bypasses the store.
func Client(t T, url string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(strings.Split(url, ",")[0])
	if err != nil {
		t.Fatal(err)
	}
	client := redis.UniversalClient(redis.NewClient(options))
	if strings.Contains(url, ",") {
		_ = client.Close()
		client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{options.Addr}})
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Keys returns the keys that match a pattern.
func Keys(t T, client redis.UniversalClient, pattern string) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	scan := func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	}
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), scan)
	} else {
		err = scan(t.Context(), client.(*redis.Client))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}
