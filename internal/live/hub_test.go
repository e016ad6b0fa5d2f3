package live

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestHub_SharesEventsAmongTheSubscribersOfAFeed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		a, b, c := subscribe(t, h, alice, ""), subscribe(t, h, alice, ""), subscribe(t, h, carol, "")
		for _, r := range []*reader{a, b, c} {
			r.want("caught up 0")
		}
		db.push(alice, carol) // read from the list, as the first push after a subscription
		for _, r := range []*reader{a, b, c} {
			r.want("+1")
		}
		before := db.callCount("Posts asked for")
		db.push(alice, carol)
		synctest.Wait()
		atA, atB, atC := (<-a.Events).(*retwis.PostAdded), (<-b.Events).(*retwis.PostAdded), (<-c.Events).(*retwis.PostAdded)
		if atA != atB {
			t.Error("subscribers of one timeline received different event values")
		}
		if atA.Edge.Post != atC.Edge.Post {
			t.Error("subscribers of two timelines received different copies of the post")
		}
		if n := db.callCount("Posts asked for") - before; n != 1 {
			t.Errorf("%d posts were loaded, want 1", n)
		}
	})
}

func TestHub_WaitsUntilItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeDatabase()
		h := NewHub(db, slog.New(slog.DiscardHandler), Options{})
		var code *retwis.Error
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errJoinTimeout) || !errors.As(err, &code) || code.Code != retwis.CodeUnavailable {
			t.Errorf("Subscribe without Run: %v", err)
		}
		early := make(chan error)
		go func() {
			_, err := h.Subscribe(t.Context(), alice, "")
			early <- err
		}()
		synctest.Wait()
		stop := start(t, h)
		if err := <-early; err != nil {
			t.Errorf("Subscribe before Run: %v", err)
		}
		stop()
	})
}

func TestHub_RefusesSubscriptionsAfterItRan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeDatabase()
		h := NewHub(db, slog.New(slog.DiscardHandler), Options{})
		stop := start(t, h)
		idle, behind := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		idle.want("caught up 0")
		for range 3 * channelLength {
			db.push(alice)
		}
		synctest.Wait()
		stop()
		if err := idle.Err(); err != nil {
			t.Errorf("subscription ended with %v, want nil", err)
		}
		for range behind.Events { // until it is closed
		}
		if err := behind.Err(); err != nil {
			t.Errorf("subscription of the slow subscriber ended with %v, want nil", err)
		}
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe after Run: %v", err)
		}
		if err := h.Run(t.Context()); err == nil {
			t.Error("second Run succeeded")
		}
		if got := db.present(); len(got) > 0 {
			t.Errorf("presence of %v remains after Run", got)
		}
	})
}

func TestHub_StopEndsAPendingSubscribe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeDatabase()
		db.fail(true, "Enter")
		h := NewHub(db, slog.New(slog.DiscardHandler), Options{})
		stop := start(t, h)
		failed := make(chan error)
		go func() {
			_, err := h.Subscribe(t.Context(), alice, "")
			failed <- err
		}()
		synctest.Wait()
		stop()
		if err := <-failed; !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe: %v, want %v", err, errNotRunning)
		}
	})
}

func TestHub_ReadyIfEveryChannelInUseIsSubscribed(t *testing.T) {
	inBubble(t, Options{Linger: time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		if err := h.Ready(100); err != nil {
			t.Errorf("without a subscriber: %v", err)
		}
		r := subscribe(t, h, alice, "")
		if err := h.Ready(100); err != nil {
			t.Errorf("with a subscriber: %v", err)
		}
		db.fail(true, "Listen")
		db.disconnect(db.PartitionOf(alice), false)
		synctest.Wait()
		if err := h.Ready(100); err == nil {
			t.Error("ready without a channel")
		}
		db.fail(false, "Listen")
		time.Sleep(5 * time.Second)
		if err := h.Ready(100); err != nil {
			t.Errorf("with the channel again: %v", err)
		}
		r.close()
	})
}
