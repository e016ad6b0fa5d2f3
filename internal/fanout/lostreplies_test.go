package fanout_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Replies of Redis are lost, and no worker runs for half of the time. While fan-out lags, a list
// may trim posts that are newer than those that it keeps. Order, pages and counts must hold.
func TestLostReplies_LoseAndDuplicateNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		homeCap, late int // entries of a home, and how many of them may be of any age
	}{
		{"room for every post", 20_000, 1},
		{"trimmed homes", 40, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
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
			e := newEngine(t, store.Options{URL: proxy.URL(), HomeCap: tt.homeCap, Slack: 10})
			_, stop := e.Work(fanout.Options{})
			m := enginetest.NewModel(e.registerDespiteLoss("user", 30))
			acts := redistest.Size(700, 10_000)
			for i := range acts {
				switch i {
				case acts / 4:
					stop()
				case 3 * acts / 4:
					e.Work(fanout.Options{})
				}
				actDespiteLoss(m, e, own)
			}
			if proxy.DroppedReplies() == 0 {
				t.Fatal("no reply was lost")
			}
			t.Logf("%d replies were lost", proxy.DroppedReplies())
			proxy.DropRepliesIf(nil)
			e.Drain()
			m.Verify(e.Engine, tt.homeCap, tt.late)
		})
	}
}

// registerDespiteLoss registers n users while replies are lost.
func (e *engine) registerDespiteLoss(prefix string, n int) []retwis.UserID {
	e.T.Helper()
	ids := make([]retwis.UserID, n)
	for i := range ids {
		ids[i] = retry(e.T, func() (*retwis.User, error) {
			return e.Accounts.Register(e.T.Context(), retwis.Registration{Username: fmt.Sprint(prefix, i), PasswordHash: "x"})
		}).ID
	}
	return ids
}

// actDespiteLoss makes a random user post, follow or unfollow while replies are lost.
func actDespiteLoss(m *enginetest.Model, e *engine, r *rand.Rand) {
	e.T.Helper()
	user, other := m.People[r.IntN(len(m.People))], m.People[r.IntN(len(m.People))]
	switch n := r.IntN(4); {
	case n < 2:
		key := e.Key()
		edge := retry(e.T, func() (retwis.PostEdge, error) {
			return e.Posts.CreatePost(e.T.Context(), retwis.NewPost{Author: user, Text: "x", IdempotencyKey: key})
		})
		m.Posts[user] = append(m.Posts[user], edge.Post.ID)
	case other == user:
	case n == 2:
		retry(e.T, func() (any, error) { return nil, e.Follows.Follow(e.T.Context(), user, other) })
		m.Follows[user][other] = true
	default:
		retry(e.T, func() (any, error) { return nil, e.Follows.Unfollow(e.T.Context(), user, other) })
		delete(m.Follows[user], other)
	}
}
