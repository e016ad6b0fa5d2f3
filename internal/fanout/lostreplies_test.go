package fanout_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestLostReplies_DuplicateNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	proxy := server.Proxy()
	r := redistest.Rand(t)
	own := rand.New(rand.NewPCG(r.Uint64(), 0)) // the proxy uses r concurrently
	var mu sync.Mutex
	proxy.DropRepliesIf(func(request []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		return !redistest.Handshake(request) && r.IntN(100) < 3
	})
	e := newEngine(t, store.Options{URL: proxy.URL()})
	e.work(fanout.Options{})
	people := func() (all []retwis.UserID) {
		for i := range 30 {
			user := retry(t, func() (*retwis.User, error) {
				return e.Accounts.Register(t.Context(), retwis.Registration{Username: fmt.Sprint("user", i), PasswordHash: "x"})
			})
			all = append(all, user.ID)
		}
		return all
	}()
	m := newModel(people)
	for range redistest.Size(1000, 10_000) {
		user := people[own.IntN(len(people))]
		switch own.IntN(4) {
		case 0, 1:
			key := e.key()
			edge := retry(t, func() (retwis.PostEdge, error) {
				return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: user, Text: "x", IdempotencyKey: key})
			})
			m.posts[user] = append(m.posts[user], edge.Post.ID)
		case 2:
			if other := people[own.IntN(len(people))]; other != user {
				retry(t, func() (any, error) { return nil, e.Follows.Follow(t.Context(), user, other) })
				m.follows[user][other] = true
			}
		case 3:
			if other := people[own.IntN(len(people))]; other != user {
				retry(t, func() (any, error) { return nil, e.Follows.Unfollow(t.Context(), user, other) })
				delete(m.follows[user], other)
			}
		}
	}
	if proxy.DroppedReplies() == 0 {
		t.Fatal("no reply was lost")
	}
	t.Logf("%d replies were lost", proxy.DroppedReplies())
	proxy.DropRepliesIf(nil)
	e.drain()
	m.verify(e, 1000, 100)
}
