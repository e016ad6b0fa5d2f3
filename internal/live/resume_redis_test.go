package live_test

import (
	"context"
	"slices"
	"testing"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestHub_RepeatedlyDisconnectedSubscriberReceivesEachPostOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{HomeCap: 5000})
		people := n.people(6)
		me, authors := people[0], people[1:]
		for _, author := range authors {
			if err := n.Follows.Follow(t.Context(), me, author); err != nil {
				t.Fatal(err)
			}
		}
		n.drain()
		// Two hubs stand for two API nodes. The subscriber resumes at a random one.
		hubs := []*live.Hub{n.hub(live.Options{}), n.hub(live.Options{})}
		posts, cuts := redistest.Size(600, 2000), redistest.Size(40, 100)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		readers, wait := n.watched(ctx, redistest.Rand(t), hubs, posts/cuts/len(authors),
			retwis.Home(me), retwis.Profile(authors[0]), retwis.Public(), n.tagged())
		for i := range posts {
			n.post(authors[i%len(authors)])
		}
		n.drain()
		n.sawAllOf(readers, n.post(authors[0]), func() { cancel(); wait() })
		if c := readers[0].cuts; c < cuts {
			t.Errorf("subscriber of the home was disconnected %d times, want at least %d", c, cuts)
		}
	})
}

func TestHub_SendsRemovalsToResumingSubscribers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		people := n.people(2)
		me, author := people[0], people[1]
		if err := n.Follows.Follow(t.Context(), me, author); err != nil {
			t.Fatal(err)
		}
		gone, stays := n.post(author), n.post(author)
		n.drain()
		hub := n.hub(live.Options{})
		for _, id := range []retwis.TimelineID{retwis.Home(me), retwis.Profile(author), retwis.Public(), n.tagged()} {
			page, err := n.Timelines.Page(t.Context(), id, retwis.Page{First: 1})
			if err != nil {
				t.Fatal(err)
			}
			if gone == stays {
				gone = n.post(author)
				n.drain()
			}
			if err := n.Posts.DeletePost(t.Context(), author, gone); err != nil {
				t.Fatal(err)
			}
			n.drain()
			r := &reader{hubs: []*live.Hub{hub}, timeline: id, cursor: page.LiveCursor, random: redistest.Rand(t)}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- r.once(ctx, 100) }()
			await(t, func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return slices.Contains(r.removed, gone)
			})
			live := n.post(author)
			await(t, func() bool { return r.saw(live) })
			if err := n.Posts.DeletePost(t.Context(), author, live); err != nil {
				t.Fatal(err)
			}
			await(t, func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return slices.Contains(r.removed, live)
			})
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if r.resets > 0 {
				t.Errorf("%s: %d resets", id, r.resets)
			}
			gone = stays
		}
	})
}

func TestHub_FollowResetsAnOpenHome(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		people := n.people(2)
		me, author := people[0], people[1]
		early := n.post(author)
		n.drain()
		hub := n.hub(live.Options{})
		page, err := n.Timelines.Page(t.Context(), retwis.Home(me), retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{hubs: []*live.Hub{hub}, timeline: retwis.Home(me), cursor: page.LiveCursor, random: redistest.Rand(t)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.once(ctx, 100) }()
		if err := n.Follows.Follow(t.Context(), me, author); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.resets == 1
		})
		if got := n.list(retwis.Home(me)); !slices.Equal(got, []retwis.PostID{early}) {
			t.Errorf("home after the reset: %v", got)
		}
		next := n.post(author)
		await(t, func() bool { return r.saw(next) })
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestHub_SendsPostsOfLargeAuthors(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{PullAbove: 1})
		people := n.people(4)
		me, away, star, small := people[0], people[1], people[2], people[3]
		for _, reader := range []retwis.UserID{me, away} {
			for _, author := range []retwis.UserID{star, small} {
				if err := n.Follows.Follow(t.Context(), reader, author); err != nil {
					t.Fatal(err)
				}
			}
		}
		n.drain()
		hub := n.hub(live.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		readers, wait := n.watched(ctx, redistest.Rand(t), []*live.Hub{hub}, 1_000_000, retwis.Home(me))
		// Posts of large authors are pushed only to homes with presence.
		await(t, func() bool { return hub.Stats().Subscribers == 1 && hub.Ready(100) == nil })
		first := n.post(star)
		await(t, func() bool { return readers[0].saw(first) })
		var last retwis.PostID
		for range 20 {
			n.post(star)
			last = n.post(small)
		}
		n.drain()
		n.sawAllOf(readers, last, func() { cancel(); wait() })
		if got, want := n.list(retwis.Home(away)), n.list(retwis.Home(me)); len(got) != len(want) {
			t.Errorf("home of a user without a subscription has %d posts, want %d", len(got), len(want))
		}
	})
}
