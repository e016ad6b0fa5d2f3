package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestHub_LostPubSubConnectionsLoseNoPost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{HomeCap: 5000})
		people := n.people(3)
		if err := n.Follows.Follow(t.Context(), people[0], people[1]); err != nil {
			t.Fatal(err)
		}
		n.drain()
		hub := n.hub(live.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		posts := redistest.Size(300, 2000)
		readers, wait := n.watched(ctx, redistest.Rand(t), []*live.Hub{hub}, 10*posts, retwis.Home(people[0]), retwis.Public())
		killed := int64(0)
		for i := range posts {
			if i%20 == 10 {
				killed += killPubSub(t, url)
			}
			n.post(people[1])
		}
		n.drain()
		if killed == 0 {
			t.Error("no connection was killed")
		}
		n.sawAllOf(readers, n.post(people[1]), func() { cancel(); wait() })
		t.Logf("%d connections killed, %+v", killed, hub.Stats())
	})
}

// Only the probe detects a connection that answers pings and delivers nothing.
func TestHub_SilentPubSubConnectionsLoseNoPost(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	proxy := server.Proxy()
	writing := openNode(t, server.URL(), store.Options{})
	people := writing.people(2)
	if err := writing.Follows.Follow(t.Context(), people[0], people[1]); err != nil {
		t.Fatal(err)
	}
	writing.drain()
	hearing := openNode(t, proxy.URL(), store.Options{})
	hub := hearing.hub(live.Options{ProbeEvery: 200 * time.Millisecond, ProbeWait: time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	readers, wait := writing.watched(ctx, redistest.Rand(t), []*live.Hub{hub}, 1_000_000, retwis.Home(people[0]), retwis.Public())
	for range 2 {
		post := writing.post(people[1])
		for _, r := range readers {
			await(t, func() bool { return r.saw(post) })
		}
		before := hub.Stats().SilentConnections
		proxy.DropPushes()
		writing.post(people[1])
		await(t, func() bool { return hub.Stats().SilentConnections > before })
	}
	writing.drain()
	writing.sawAllOf(readers, writing.post(people[1]), func() { cancel(); wait() })
	t.Logf("%+v", hub.Stats())
}

// killPubSub closes all connections of subscribers and returns their number.
func killPubSub(t *testing.T, urls string) (killed int64) {
	t.Helper()
	for url := range strings.SplitSeq(urls, ",") {
		options, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(options)
		n, err := client.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Result()
		if err != nil {
			t.Fatal(err)
		}
		killed += n
		_ = client.Close()
	}
	return killed
}
