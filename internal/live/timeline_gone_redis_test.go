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

// The test deletes a list and an account whose timelines have subscribers.
func TestHub_DeletedTimelinesEndTheirSubscriptions(t *testing.T) {
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
		// The hub sends the removals of the posts first.
		for e := range ofProfile.events.Events {
			if removed, ok := e.(*retwis.PostRemoved); ok && removed.PostID == post {
				ofProfile.removed = true
			}
		}
		n.wantGone(ofProfile)
		if !ofProfile.removed {
			t.Error("the hub did not send the removal of the post")
		}

		// A subscriber that resumes later receives the same error, before and after the cleanup.
		for range 2 {
			for _, w := range []*watch{ofList, ofProfile} {
				if _, err := hub.Subscribe(t.Context(), w.timeline, w.cursor); !errors.Is(err, retwis.ErrTimelineGone) {
					t.Errorf("resuming %s gives %v", w.timeline, err)
				}
			}
			n.drain()
		}
		await(t, func() bool { return hub.Stats().Subscribers == 1 }) // that of the public timeline
	})
}

// The node has no presence, so that it receives no message about the deletion.
func TestHub_PeriodicCheckFindsADeletedTimeline(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		me := n.people(1)[0]
		list, err := n.Lists.CreateList(t.Context(), me, "friends", "key")
		if err != nil {
			t.Fatal(err)
		}
		timeline := retwis.ListPosts(list.ID)
		hub := n.hub(live.Options{Node: "absent", CheckEvery: 500 * time.Millisecond})
		w := n.subscribe(hub, timeline)
		if err := n.Live.SetOffline(t.Context(), "absent", []retwis.TimelineID{timeline}); err != nil {
			t.Fatal(err)
		}
		if err := n.Lists.DeleteList(t.Context(), me, list.ID); err != nil {
			t.Fatal(err)
		}
		n.wantGone(w)
	})
}

// The sweep drops no hashtag that is watched, but the presence of a node may have expired.
func TestHub_PeriodicCheckFindsADroppedHashtag(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{IdleTagAge: 24 * time.Hour, Now: func() time.Time { return time.Now().Add(48 * time.Hour) }})
		n.post(n.people(1)[0])
		n.drain()
		timeline := n.tagged()
		hub := n.hub(live.Options{Node: "absent", CheckEvery: 500 * time.Millisecond})
		w := n.subscribe(hub, timeline)
		sweep := func() (dropped int) {
			t.Helper()
			record := n.DB().OfTimeline(timeline).Timeline(timeline).Owner()
			if err := n.DB().Client.HSet(t.Context(), record, "used", time.Now().Unix()/86_400-3).Err(); err != nil {
				t.Fatal(err)
			}
			err := n.Sweeps.EvictIdle(t.Context(), func(_ context.Context, _, removed int) error { dropped += removed; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return dropped
		}
		if dropped := sweep(); dropped > 0 {
			t.Error("a hashtag was dropped although it is watched")
		}
		if err := n.Live.SetOffline(t.Context(), "absent", []retwis.TimelineID{timeline}); err != nil {
			t.Fatal(err)
		}
		if dropped := sweep(); dropped != 1 {
			t.Errorf("%d hashtags were dropped, want 1", dropped)
		}
		n.wantGone(w)
	})
}

// watch is a subscription that has received its first event.
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
		n.t.Errorf("subscription of %s ended with %v, want %v", w.timeline, err, retwis.ErrTimelineGone)
	}
}
