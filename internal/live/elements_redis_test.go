package live_test

import (
	"slices"
	"testing"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// next returns the next event of a subscription.
func next(t *testing.T, s live.Subscription) retwis.Event {
	t.Helper()
	e, open := <-s.Events
	if !open {
		t.Fatal(s.Err())
	}
	return e
}

func TestHub_SendsThePostsThatElementsShow(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		users := n.people(4)
		reader, author, friend, stranger := users[0], users[1], users[2], users[3]
		for _, followed := range []retwis.UserID{author, friend} {
			if err := n.Follows.Follow(t.Context(), reader, followed); err != nil {
				t.Fatal(err)
			}
		}
		n.drain()
		post, ofFriend, ofReader := n.post(stranger), n.post(friend), n.post(reader)
		n.drain()
		hub, home := n.hub(live.Options{}), retwis.Home(reader)
		if _, err := n.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		s, err := hub.Subscribe(t.Context(), home, "")
		if err != nil {
			t.Fatal(err)
		}
		begin := next(t, s).EventCursor()
		want := []retwis.Element{retwis.Plain(n.post(author))}
		n.drain()
		before := hub.Stats().CatchUps
		for _, plant := range []func() retwis.Element{
			func() retwis.Element { return storetest.Repost(t, n.Store, author, post) },
			func() retwis.Element { return storetest.Reply(t, n.Store, author, post) },
			func() retwis.Element { return storetest.Reply(t, n.Store, author, ofReader) },
			func() retwis.Element { return storetest.Reply(t, n.Store, author, ofFriend) },
			func() retwis.Element { return retwis.Plain(n.post(author)) },
		} {
			want = append(want, plant())
			n.drain()
		}
		hidden := 2 // the reply to a stranger
		received := make([]retwis.Event, len(want))
		for i := range want {
			if i != hidden {
				received[i] = next(t, s)
			}
		}
		for i, e := range want {
			if i == hidden {
				continue
			}
			got := received[i]
			added, ok := got.(*retwis.PostAdded)
			if !ok || added.Edge.Post.ID != e.Shown() {
				t.Fatalf("event %d is %+v, want the post %s", i, got, e.Shown())
			}
			if by := added.Edge.Repost; added.Edge.EntryID() != e.ID || (by != nil) != (e.Reposted != 0) || by != nil && by.UserID != e.Author {
				t.Errorf("event %d: the edge of %s is of the repost %+v", i, e, by)
			}
			at, err := got.EventCursor().TimelinePosition(home)
			if err != nil || at.Element != e {
				t.Errorf("event %d: cursor at %v, %v, want %v", i, at.Element, err, e)
			}
			// The replay after each element has the later ones. It does not have the hidden one.
			again, err := hub.Subscribe(t.Context(), home, got.EventCursor())
			if err != nil {
				t.Fatal(err)
			}
			var replayed []retwis.PostID
			for event := next(t, again); ; event = next(t, again) {
				added, ok := event.(*retwis.PostAdded)
				if !ok {
					break
				}
				replayed = append(replayed, added.Edge.EntryID())
			}
			var later []retwis.PostID
			for j, e := range want {
				if j > i && j != hidden {
					later = append(later, e.ID)
				}
			}
			if !slices.Equal(replayed, later) {
				t.Errorf("replay after %s: %v, want %v", e, replayed, later)
			}
		}
		if reads := hub.Stats().CatchUps - before; reads > 1 { // one push onto a head that was found, not seen
			t.Errorf("the feed read the list %d times", reads)
		}
		if err := n.Posts.DeletePost(t.Context(), stranger, post); err != nil {
			t.Fatal(err)
		}
		n.drain()
		resumed, err := hub.Subscribe(t.Context(), home, begin)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := next(t, resumed).(*retwis.PostAdded); !ok || e.Edge.Post.ID != want[0].ID {
			t.Errorf("the first replayed event is %+v, want the post %s", e, want[0])
		}
		if e, ok := next(t, resumed).(*retwis.PostAdded); !ok || e.Edge.Post.ID != want[3].ID {
			t.Errorf("the second replayed event is %+v, want the post %s: the reposted one is deleted, the next one hidden", e, want[3])
		}
	})
}
