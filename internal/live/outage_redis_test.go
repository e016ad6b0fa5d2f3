package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// stubborn is a reader that retries after every error.
type stubborn struct {
	reader
	n *node
}

func (s *stubborn) follow(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.once(ctx, 1+s.random.IntN(100)) // retried below
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// postAtLast creates one post and retries until it succeeds.
func (n *node) postAtLast(author retwis.UserID) retwis.PostID {
	n.t.Helper()
	n.keys++
	post := retwis.NewPost{Author: author, Text: "x", IdempotencyKey: fmt.Sprint("at last ", n.keys)}
	var id retwis.PostID
	await(n.t, func() bool {
		edge, err := n.Posts.CreatePost(n.t.Context(), post)
		if err == nil {
			id = edge.Post.ID
		}
		return err == nil
	})
	return id
}

// outlast lets readers subscribe to their homes on two hubs while posts are created, and calls
// disturb after half of the posts. It returns the readers after they have received the last
// post.
func (n *node) outlast(posts int, disturb func(author, reader retwis.UserID)) []*stubborn {
	n.t.Helper()
	people := n.people(4)
	for _, reader := range people[1:] {
		if err := n.Follows.Follow(n.t.Context(), reader, people[0]); err != nil {
			n.t.Fatal(err)
		}
	}
	n.drain()
	hubs := []*live.Hub{n.hub(live.Options{}), n.hub(live.Options{})}
	ctx, cancel := context.WithCancel(n.t.Context())
	defer cancel()
	random := redistest.Rand(n.t)
	var wg sync.WaitGroup
	var readers []*stubborn
	for _, id := range people[1:] {
		home := retwis.Home(id)
		start, err := n.Timelines.Page(ctx, home, retwis.Page{First: 1})
		if err != nil {
			n.t.Fatal(err)
		}
		r := &stubborn{n: n, reader: reader{
			hubs: hubs, timeline: home, cursor: start.LiveCursor, random: rand.New(rand.NewPCG(random.Uint64(), 3)),
		}}
		readers = append(readers, r)
		wg.Go(func() { r.follow(ctx) })
	}
	var last retwis.PostID
	for i := range posts {
		if i == posts/2 {
			disturb(people[0], people[1])
		}
		last = n.postAtLast(people[0])
	}
	for _, r := range readers {
		await(n.t, func() bool { return r.saw(last) })
	}
	cancel()
	wg.Wait()
	n.drain()
	return readers
}

func TestHub_RestartOfRedisLosesNoEvent(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t, "--appendonly", "yes", "--appendfsync", "always") // otherwise the restart may lose writes
	n := openNode(t, server.URL(), store.Options{HomeCap: 5000})
	for _, r := range n.outlast(redistest.Size(200, 2000), func(_, _ retwis.UserID) { server.Kill(); server.Start() }) {
		if want := n.list(r.timeline); !slices.Equal(r.seen, want) || r.resets > 0 {
			t.Errorf("%s: received %d posts and %d resets, want %d posts in the order of the list", r.timeline, len(r.seen), r.resets, len(want))
		}
	}
}

// A failover may lose deliveries that the replica lacks. The worker delivers them again, and
// subscribers beyond the replica's state receive a reset.
func TestHub_FailoverLosesNoEventSilently(t *testing.T) {
	t.Parallel()
	group := redistest.Cluster(t, redistest.ClusterOptions{Replicas: 1})
	n := openNode(t, group.URL(), store.Options{HomeCap: 5000})
	for _, r := range n.outlast(redistest.Size(200, 2000), func(_, reader retwis.UserID) {
		group.KillMaster(group.Slot(homeKey(t, group, reader)))
	}) {
		want := n.list(r.timeline)
		if r.resets == 0 && !slices.Equal(r.seen, want) {
			t.Errorf("%s: received %d posts without a reset, want %d in the order of the list", r.timeline, len(r.seen), len(want))
		}
		t.Logf("%s: received %d of %d posts, %d resets", r.timeline, len(r.seen), len(want), r.resets)
	}
}

// homeKey returns the key of a reader's home.
func homeKey(t *testing.T, group *redistest.Group, reader retwis.UserID) string {
	t.Helper()
	var mu sync.Mutex
	var found string
	err := group.Client().ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, "*:home:"+reader.String()).Result()
		mu.Lock()
		defer mu.Unlock()
		if len(keys) > 0 {
			found = keys[0]
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no key of the home of %s: %v", reader, err)
	}
	return found
}
