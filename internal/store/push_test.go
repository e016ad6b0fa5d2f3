package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// delivery returns the delivery of the last entry of the only outbox to the followers of its author.
func (e *engine) delivery() outbox.Delivery {
	e.T.Helper()
	entries, err := e.Outbox.ReadOutbox(e.T.Context(), 0, "0", 100, 0)
	if err != nil || len(entries) == 0 {
		e.T.Fatalf("%d entries: %v", len(entries), err)
	}
	return outbox.Delivery{Entry: entries[len(entries)-1], To: outbox.TargetFollowers}
}

// deliver makes one call of a delivery, and reports whether the delivery is complete.
func (e *engine) deliver(d *outbox.Delivery) bool {
	e.T.Helper()
	result := e.Outbox.Deliver(e.T.Context(), []outbox.Delivery{*d})[0]
	if result.Err != nil {
		e.T.Fatal(result.Err)
	}
	d.Progress = result.Progress
	return d.Progress == outbox.Done
}

// fans returns users who follow an author, with homes.
func (e *engine) fans(author retwis.UserID, n int) []retwis.UserID {
	e.T.Helper()
	_, stop := e.Work(fanout.Options{})
	fans := e.Crowd("fan", n)
	for _, fan := range fans {
		e.Follow(fan, author)
		e.Read(retwis.Home(fan))
	}
	e.Drain()
	stop()
	return fans
}

// everyFanHasOnce verifies that every home holds a post, once.
func (e *engine) everyFanHasOnce(fans []retwis.UserID, post retwis.PostID) {
	e.T.Helper()
	for i, fan := range fans {
		if got := e.Read(retwis.Home(fan)); !slices.Equal(got, []retwis.PostID{post}) {
			e.T.Errorf("the home of fan %d holds %v, want %v once", i, got, post)
		}
	}
}

// An earlier call of a delivery has served a reader, who then unfollows the author and follows again. The new follow is
// after the position of the delivery; the next calls must not serve the reader a second time.
func TestPush_ServesAReaderOnceWhoFollowsAgainMeanwhile(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 1, Chunk: 4})
		author := e.Register("author")[0]
		fans := e.fans(author, 10)
		post := e.Post(author, "x")
		d := e.delivery()
		if e.deliver(&d) {
			t.Fatal("one call served all followers")
		}
		for _, again := range []retwis.UserID{fans[0], fans[9]} { // served, and not served yet
			e.Unfollow(again, author)
			e.Follow(again, author)
		}
		for !e.deliver(&d) {
		}
		e.Work(fanout.Options{})
		e.Drain()
		e.everyFanHasOnce(fans, post)
		e.IsSound()
	})
}

// A call that broke off may have served more followers than one call that searches lists may serve.
func TestPush_ServesEveryReaderOnceAfterAnInterruptedCall(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 1, Chunk: 6, CheckedChunk: 2})
		author := e.Register("author")[0]
		fans := e.fans(author, 10)
		post := e.Post(author, "x")
		d := e.delivery()
		client := enginetest.Client(t, url)
		get := func(pattern string) string { return enginetest.Keys(t, client, pattern)[0] }
		for _, fan := range fans[:5] {
			if err := client.LPush(t.Context(), get("*:home:"+fan.String()), post.String()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		d.Progress = "/" + client.Get(t.Context(), get("*:clock")).Val() + "*"
		if err := client.HSet(t.Context(), get("*:progress:0"), d.Entry.ID, d.Progress).Err(); err != nil {
			t.Fatal(err)
		}
		for !e.deliver(&d) {
		}
		e.everyFanHasOnce(fans, post)
	})
}

// Attack: the lists that a repost is delivered to are searched for the same post if they are watched. A call that did so for 500 of
// them kept Redis busy for 20 ms, and one for 50 of them that held reposts for 16.
func TestPush_SearchesFewWatchedListsForRepeats(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 1, Chunk: 100, CheckedChunk: 8})
		author, stranger := e.Register("author")[0], e.Register("stranger")[0]
		fans := e.fans(author, 10)
		calls := func() int {
			t.Helper()
			d := e.delivery()
			n := 1
			for !e.deliver(&d) {
				n++
			}
			return n
		}
		storetest.Repost(t, e.Store, author, e.Post(stranger, "x"))
		if n := calls(); n != 1 {
			t.Errorf("%d calls for homes that nobody watches", n)
		}
		var homes []retwis.TimelineID
		for _, fan := range fans {
			homes = append(homes, retwis.Home(fan))
		}
		if _, err := e.Live.SetOnline(t.Context(), "node", homes, time.Minute); err != nil {
			t.Fatal(err)
		}
		storetest.Repost(t, e.Store, author, e.Post(stranger, "y"))
		d := e.delivery()
		first := e.Outbox.Deliver(t.Context(), []outbox.Delivery{d})[0]
		if first.Served != 2 || first.Searched != 8 {
			t.Errorf("a call has served %d homes with %d searches, want 2 with 8", first.Served, first.Searched)
		}
		if n := calls(); n < 4 {
			t.Errorf("%d further calls searched %d homes", n, len(fans))
		}
		e.Post(author, "z")
		d = e.delivery()
		if only := e.Outbox.Deliver(t.Context(), []outbox.Delivery{d})[0]; only.Progress != outbox.Done || only.Served != 10 || only.Searched != 0 {
			t.Errorf("a call for a post has served %d homes with %d searches, want all with none", only.Served, only.Searched)
		}
	})
}

// Attack: the deletion of a post was announced to all lists of its author and of thirty users who had reposted it, thousands of lists that
// nobody watched.
func TestAnnounceRemoval_WalksOverFollowersOrWatchedTimelines(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 1, Chunk: 20})
		author := e.Register("author")[0]
		strangers := e.Crowd("stranger", 100)
		fans := e.fans(author, 180)
		messages := make(chan pubsub.Message, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = e.Live.Listen(ctx, "node", 0, func(m pubsub.Message) { messages <- m }) }()
		<-messages // that the channel was subscribed
		for _, tt := range []struct {
			name            string
			fans, strangers int // who watch their homes
			atLeast, atMost int // calls
		}{
			{"nobody", 0, 0, 1, 1},
			{"few", 2, 3, 1, 1},
			{"fewer than followers", 140, 30, 3, 20},
			{"more than followers", 150, 100, 10, 10},
		} {
			var homes []retwis.TimelineID
			for _, user := range slices.Concat(fans[:tt.fans], strangers[:tt.strangers]) {
				homes = append(homes, retwis.Home(user))
			}
			if _, err := e.Live.SetOnline(t.Context(), "node", homes, time.Minute); err != nil {
				t.Fatal(err)
			}
			post := e.Post(author, "x")
			if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
				t.Fatal(err)
			}
			d := e.delivery()
			calls, visited := 0, 0
			for d.Progress != outbox.Done {
				result := e.Outbox.Deliver(t.Context(), []outbox.Delivery{d})[0]
				if result.Err != nil {
					t.Fatal(result.Err)
				}
				calls, visited, d.Progress = calls+1, visited+result.Visited, result.Progress
			}
			if calls < tt.atLeast || calls > tt.atMost {
				t.Errorf("%s: %d calls, want %d to %d", tt.name, calls, tt.atLeast, tt.atMost)
			}
			if fewer := min(len(homes), len(fans)); visited < fewer || visited > 2*fewer {
				t.Errorf("%s: %d followers or watched timelines were looked at, want about %d", tt.name, visited, fewer)
			}
			told := map[retwis.TimelineID]bool{}
			for len(told) < tt.fans {
				select {
				case m := <-messages:
					for _, recipient := range m.Recipients {
						if m.Kind == pubsub.Removed && m.Post == post {
							told[recipient.Timeline] = true
						}
					}
				case <-time.After(10 * time.Second):
					t.Fatalf("%s: %d homes are told of the deletion, want %d", tt.name, len(told), tt.fans)
				}
			}
			for i, fan := range fans {
				if told[retwis.Home(fan)] != (i < tt.fans) {
					t.Errorf("%s: fan %d is told: %v", tt.name, i, i >= tt.fans)
				}
			}
		}
	})
}
