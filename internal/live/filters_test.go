package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func subscribeAs(t *testing.T, h *Hub, who retwis.Subscriber, timeline retwis.TimelineID, after retwis.Cursor) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s, err := h.SubscribeAs(ctx, who, timeline, after)
	if err != nil {
		t.Fatalf("SubscribeAs: %v", err)
	}
	return &reader{Subscription: s, t: t, close: cancel, cursor: after}
}

func TestFilters_ResetOnlyTheViewerWhoseEpochChanged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const viewer, other = retwis.UserID(7), retwis.UserID(8)
		public := retwis.Public()
		db.push(public)
		mine := subscribeAs(t, h, retwis.Subscriber{User: viewer}, public, "")
		theirs := subscribeAs(t, h, retwis.Subscriber{User: other}, public, "")
		anonymous := subscribe(t, h, public, "")
		for _, r := range []*reader{mine, theirs, anonymous} {
			r.want("caught up 0")
		}

		db.raiseFilter(viewer)
		db.push(public)
		mine.want("+2") // no message reaches the public timeline: the regular check finds the change
		time.Sleep(2 * time.Minute)
		mine.want("HISTORY_CHANGED")
		if got := position(t, public, mine.cursor).Filter; got != 1 {
			t.Errorf("the cursor has the filter epoch %d, want 1", got)
		}
		db.raiseFilter(viewer, public)
		mine.want("HISTORY_CHANGED")
		db.push(public)
		mine.want("+3")
		if got := position(t, public, mine.cursor).Filter; got != 2 {
			t.Errorf("the cursor has the filter epoch %d, want 2", got)
		}
		theirs.want("+2", "+3")
		anonymous.want("+2", "+3")
		time.Sleep(2 * time.Minute)
		for _, r := range []*reader{mine, theirs, anonymous} {
			r.want()
		}

		// A cursor of an earlier epoch is reset, and one of the same epoch is replayed.
		subscribeAs(t, h, retwis.Subscriber{User: viewer, FilterEpoch: 2}, public, theirs.cursor).want("HISTORY_CHANGED", "caught up 0")
		cursor := mine.cursor
		db.push(public)
		mine.want("+4")
		again := subscribeAs(t, h, retwis.Subscriber{User: viewer, FilterEpoch: 1}, public, cursor) // the session was read earlier
		again.want("+4", "caught up 1")
		if got := position(t, public, again.cursor).Filter; got != 2 {
			t.Errorf("the cursor of the replay has the filter epoch %d, want 2", got)
		}
	})
}

// A channel that was silent may have lost the message about a changed filter.
func TestFilters_AreComparedAfterTheChannelWasLost(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribeAs(t, h, retwis.Subscriber{User: 7}, alice, "")
		r.want("caught up 0")
		db.raiseFilter(7)
		db.push(alice)
		r.want("+1")
		db.disconnect(db.PartitionOf(alice), false)
		time.Sleep(20 * time.Second)
		r.want("HISTORY_CHANGED")
	})
}

func TestFilters_RetryAfterAnOutage(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribeAs(t, h, retwis.Subscriber{User: 7}, alice, "")
		r.want("caught up 0")
		db.fail(true, "FilterEpochs")
		db.raiseFilter(7, alice)
		r.want()
		db.fail(false, "FilterEpochs")
		time.Sleep(20 * time.Second)
		r.want("HISTORY_CHANGED")
	})
}

// The filters are compared again if the posts of the same catch-up could not be loaded.
func TestFilters_RetryWithThePosts(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribeAs(t, h, retwis.Subscriber{User: 7}, alice, "")
		r.want("caught up 0")
		db.fail(true, "Shown")
		db.raiseFilter(7)
		db.push(alice)
		db.disconnect(db.PartitionOf(alice), false)
		time.Sleep(20 * time.Second)
		r.want()
		db.fail(false, "Shown")
		time.Sleep(20 * time.Second)
		r.want("+1", "HISTORY_CHANGED")
	})
}

// While nobody watches a home, a change of its owner's filters causes no message.
func TestFilters_ChangedBeforeASubscriptionResumes(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		owner := alice.User()
		db.push(alice)
		cursor := db.cursor(alice)
		db.raiseFilter(owner) // after the session was read
		r := subscribeAs(t, h, retwis.Subscriber{User: owner}, alice, cursor)
		r.want("HISTORY_CHANGED", "caught up 0")
		if got := position(t, alice, r.cursor).Filter; got != 1 {
			t.Errorf("the cursor has the filter epoch %d, want 1", got)
		}
		subscribeAs(t, h, retwis.Subscriber{User: owner}, alice, r.cursor).want("caught up 0")
	})
}

// A feed may compare the filters of its viewers, without finding one, while the first of them is still reading.
func TestFilters_ChangedWhileASubscriptionResumes(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		owner := retwis.Subscriber{User: alice.User()}
		first := subscribeAs(t, h, owner, alice, "")
		first.want("caught up 0")
		release := db.hold("timelines")
		joined := make(chan *reader)
		go func() { joined <- subscribeAs(t, h, owner, alice, first.cursor) }()
		synctest.Wait() // it has read, and its reply is on the way
		db.pass()
		first.close()
		synctest.Wait()
		db.raiseFilter(owner.User, alice)
		synctest.Wait()
		release()
		(<-joined).want("caught up 0", "HISTORY_CHANGED")
	})
}

// Attack: joins of a timeline that a thousand users watched made it compare the filter epochs of all of them, again and again, and nobody paid.
func TestFilters_OnlyThatOfALateViewerIsCompared(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const viewers, late = 20, retwis.UserID(100)
		public := retwis.Public()
		db.push(public)
		for viewer := range retwis.UserID(viewers) {
			subscribeAs(t, h, retwis.Subscriber{User: viewer + 1}, public, "").want("caught up 0")
		}
		release := db.hold("timelines")
		joined := make(chan *reader)
		go func() { joined <- subscribeAs(t, h, retwis.Subscriber{User: late}, public, "") }()
		synctest.Wait() // it has read, and its reply is on the way
		db.pass()
		db.raiseFilter(1, public) // a message: those of all viewers are compared
		synctest.Wait()
		db.raiseFilter(late) // without one
		before := db.callCount("Filters asked for")
		release()
		(<-joined).want("caught up 0", "HISTORY_CHANGED")
		if asked := db.callCount("Filters asked for") - before; asked != 1 {
			t.Errorf("the filters of %d viewers were compared, want that of the one who joined", asked)
		}
	})
}
