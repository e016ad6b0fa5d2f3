package fanout_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: users who follow and unfollow an author at the push threshold, whose posts are merged into the home of each follower when
// the author falls to it.
func TestLargeAuthors_FallBelowNineTenthsOfTheThreshold(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, PullAbove: 20})
		e.Work(fanout.Options{})
		author, followers := e.Register("author")[0], e.Crowd("follower", 21)
		client := enginetest.Client(t, url)
		var posts []retwis.PostID
		followedBy := func(n int, wait bool) {
			t.Helper()
			for i, reader := range followers {
				if i < n {
					e.Follow(reader, author)
				} else {
					e.Unfollow(reader, author)
				}
			}
			e.Drain()
			posts = append(posts, e.Post(author, "a post"))
			e.Drain()
			held := 0
			for _, key := range enginetest.Keys(t, client, "*:pulled:"+author.String()) {
				held += len(client.LRange(t.Context(), key, 0, -1).Val())
			}
			if (held > 0) != wait {
				t.Errorf("%d posts wait with %d followers, want some: %t", held, n, wait)
			}
		}
		followedBy(20, false)
		followedBy(21, true)
		followedBy(20, true)
		followedBy(19, true)
		followedBy(18, false)
		followedBy(20, false)
		for _, reader := range followers[:18] {
			if got, want := e.Read(retwis.Home(reader)), enginetest.Newest(posts); !slices.Equal(got, want) {
				t.Errorf("%s reads %v, want %v", reader, got, want)
			}
		}
		e.IsSound()
	})
}

// A message about a post that was pulled into a watched home says so, because the subscribers of the home pay for the pull.
func TestLargeAuthors_MessagesSayThatAPostWasPulled(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, PullAbove: 1})
		e.Work(fanout.Options{})
		users := e.Register("large", "small", "reader", "another reader")
		e.Follow(users[2], users[0])
		e.Follow(users[3], users[0])
		e.Follow(users[2], users[1])
		e.Drain()
		const node = "node"
		home := retwis.Home(users[2])
		if _, err := e.Live.SetOnline(t.Context(), node, []retwis.TimelineID{home}, time.Minute); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		messages, ended := make(chan pubsub.Message, 100), make(chan error, 1)
		go func() {
			ended <- e.Live.Listen(ctx, node, e.Live.PartitionOf(home), func(m pubsub.Message) { messages <- m })
		}()
		next := func() pubsub.Message {
			t.Helper()
			select {
			case m := <-messages:
				return m
			case <-time.After(time.Minute):
				t.Fatal("no message arrives")
				return pubsub.Message{}
			}
		}
		if m := next(); m.Kind != pubsub.Joined {
			t.Fatalf("the first message is %+v", m)
		}
		for author, pulled := range []bool{true, false} {
			post := e.Post(users[author], "a post")
			e.Drain()
			if m := next(); m.Kind != pubsub.Pushed || m.Element.ID != post || m.Pulled != pulled || len(m.Recipients) != 1 || m.Recipients[0].Timeline != home {
				t.Errorf("the message about post %s is %+v, want one to the home that says it was pulled: %t", post, m, pulled)
			}
		}
		stop()
		<-ended
	})
}
