package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// TestTimelinesThatAreGoneEndTheirSubscriptions deletes a list and an account while their
// timelines are watched.
func TestTimelinesThatAreGoneEndTheirSubscriptions(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		people := n.people(2)
		me, author := people[0], people[1]
		list, err := n.Lists.CreateList(t.Context(), me, "friends", "key")
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Lists.AddListMember(t.Context(), me, list.ID, author); err != nil {
			t.Fatal(err)
		}
		post := n.post(author)
		n.drain()
		hub := n.hub(live.Options{})

		ofList := n.subscribe(hub, retwis.ListPosts(list.ID))
		ofProfile := n.subscribe(hub, retwis.Profile(author))
		n.subscribe(hub, retwis.Public())
		if err := n.Lists.DeleteList(t.Context(), me, list.ID); err != nil {
			t.Fatal(err)
		}
		n.wantGone(ofList)
		if err := n.Accounts.DeleteAccount(t.Context(), author, "x"); err != nil {
			t.Fatal(err)
		}
		// The deletion of the posts is told before.
		for e := range ofProfile.events.Events {
			if removed, ok := e.(*retwis.PostRemoved); ok && removed.PostID == post {
				ofProfile.removed = true
			}
		}
		n.wantGone(ofProfile)
		if !ofProfile.removed {
			t.Error("nobody said that the post was deleted")
		}

		// Who was away learns it on coming back, whatever is left of it by then.
		for range 2 {
			for _, w := range []*watch{ofList, ofProfile} {
				if _, err := hub.Subscribe(t.Context(), w.timeline, w.cursor); !errors.Is(err, retwis.ErrTimelineGone) {
					t.Errorf("resuming %s gives %v", w.timeline, err)
				}
			}
			n.drain()
		}
		await(t, func() bool { return hub.Stats().Subscribers == 1 }) // the public timeline's
	})
}

// TestAFeedFindsOutByItselfThatItsTimelineIsGone has nobody tell the hub.
func TestAFeedFindsOutByItselfThatItsTimelineIsGone(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		me := n.people(1)[0]
		list, err := n.Lists.CreateList(t.Context(), me, "friends", "key")
		if err != nil {
			t.Fatal(err)
		}
		timeline := retwis.ListPosts(list.ID)
		hub := n.hub(live.Options{Node: "deaf", CheckEvery: 500 * time.Millisecond})
		w := n.subscribe(hub, timeline)
		if err := n.Live.Leave(t.Context(), "deaf", []retwis.TimelineID{timeline}); err != nil {
			t.Fatal(err)
		}
		if err := n.Lists.DeleteList(t.Context(), me, list.ID); err != nil {
			t.Fatal(err)
		}
		n.wantGone(w)
	})
}

// watch is a subscription that has caught up.
type watch struct {
	timeline retwis.TimelineID
	events   live.Subscription
	cursor   retwis.Cursor
	removed  bool
}

func (n *node) subscribe(hub *live.Hub, timeline retwis.TimelineID) *watch {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 5*time.Minute)
	n.t.Cleanup(cancel)
	events, err := hub.Subscribe(ctx, timeline, "")
	if err != nil {
		n.t.Fatal(err)
	}
	first, ok := <-events.Events
	if !ok {
		n.t.Fatal(events.Err())
	}
	return &watch{timeline: timeline, events: events, cursor: first.EventCursor()}
}

// wantGone waits until a subscription has ended.
func (n *node) wantGone(w *watch) {
	n.t.Helper()
	for range w.events.Events {
		continue
	}
	if err := w.events.Err(); !errors.Is(err, retwis.ErrTimelineGone) || err.Error() != retwis.ErrTimelineGone.Error() {
		n.t.Errorf("the subscription of %s ends with %v", w.timeline, err)
	}
}
