package live_test

import (
	"testing"
	"time"

	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestHub_ResetsAViewerWhoseFilterEpochRose(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		ctx, users := t.Context(), n.people(2)
		viewer, reposter := users[0], users[1]
		home := retwis.Home(viewer)
		if err := n.Follows.Follow(ctx, viewer, reposter); err != nil {
			t.Fatal(err)
		}
		n.drain()
		if _, err := n.Timelines.Page(ctx, home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		s, err := n.hub(live.Options{CheckEvery: time.Hour}).SubscribeAs(ctx, retwis.Subscriber{User: viewer}, home, "")
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := next(t, s).(*retwis.CaughtUp); !ok {
			t.Fatalf("the first event is %+v", e)
		}
		if err := n.Follows.FollowShowing(ctx, viewer, reposter, false); err != nil {
			t.Fatal(err)
		}
		reset, ok := next(t, s).(*retwis.Reset)
		if !ok || reset.Reason != retwis.HistoryChanged {
			t.Fatalf("the event is %+v, want a reset", reset)
		}
		key := retwis.SessionKey{Bucket: viewer.Bucket(), Hash: "hash"}
		if err := n.Sessions.CreateSession(ctx, retwis.NewSession{User: viewer, Key: key}); err != nil {
			t.Fatal(err)
		}
		owner, err := n.Sessions.Session(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		page, err := n.Timelines.Page(ctx, home, retwis.Page{First: 1, FilterEpoch: owner.FilterEpoch})
		if err != nil {
			t.Fatal(err)
		}
		created, err := n.Posts.CreatePost(ctx, retwis.NewPost{Author: viewer, Text: "x", IdempotencyKey: "key"})
		if err != nil {
			t.Fatal(err)
		}
		outdated, err := n.Timelines.Page(ctx, home, retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		// Its session was read before the filters changed.
		again, err := n.hub(live.Options{CheckEvery: time.Hour}).SubscribeAs(ctx, retwis.Subscriber{User: viewer}, home, outdated.LiveCursor)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := next(t, again).(*retwis.Reset); !ok {
			t.Fatalf("the first event after an outdated cursor is %+v, want a reset", e)
		}
		for name, cursor := range map[string]retwis.Cursor{"reset": reset.Cursor, "page": page.LiveCursor, "new post": created.Cursor} {
			if at, err := cursor.TimelinePosition(home); err != nil || at.Filter != 1 {
				t.Errorf("the cursor of the %s has the filter epoch %d, %v, want 1", name, at.Filter, err)
			}
		}
	})
}
