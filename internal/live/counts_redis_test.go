package live_test

import (
	"testing"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestHub_SendsChangedCounts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		users := n.people(3)
		reader, author, fan := users[0], users[1], users[2]
		if err := n.Follows.Follow(t.Context(), reader, author); err != nil {
			t.Fatal(err)
		}
		post := n.post(author)
		n.drain()
		hub, home := n.hub(live.Options{}), retwis.Home(reader)
		if _, err := n.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		counting, err := hub.SubscribeAs(t.Context(), retwis.Subscriber{User: reader, Counts: true}, home, "")
		if err != nil {
			t.Fatal(err)
		}
		plain, err := hub.SubscribeAs(t.Context(), retwis.Subscriber{User: reader}, home, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []live.Subscription{counting, plain} {
			if e, ok := next(t, s).(*retwis.CaughtUp); !ok {
				t.Fatalf("the first event is %+v", e)
			}
		}
		// The hub asks the partitions for counts after the subscription has begun, so the first likes may cause no event.
		var event retwis.Event
		await(t, func() bool {
			if err := n.Likes.Like(t.Context(), fan, post); err != nil {
				t.Error(err)
			}
			if err := n.Likes.Unlike(t.Context(), fan, post); err != nil {
				t.Error(err)
			}
			select {
			case event = <-counting.Events:
				return true
			default:
				return false
			}
		})
		if e, ok := event.(*retwis.PostChanged); !ok || e.Post.ID != post || e.Post.Text != "x #live" {
			t.Errorf("the event is %+v, want the changed post %s", event, post)
		}
		added := n.post(author)
		if e, ok := next(t, plain).(*retwis.PostAdded); !ok || e.Edge.Post.ID != added {
			t.Errorf("the event of a subscriber that did not ask for counts is %+v, want the post %s", e, added)
		}
	})
}
