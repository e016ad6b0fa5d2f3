package live

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestAnEventIsMadeOnceForAFeed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		a, b, c := subscribe(t, h, alice, ""), subscribe(t, h, alice, ""), subscribe(t, h, carol, "")
		for _, r := range []*reader{a, b, c} {
			r.want("caught up 0")
		}
		w.push(alice, carol) // looked up, as the first after each subscription
		for _, r := range []*reader{a, b, c} {
			r.want("+1")
		}
		before := w.called("Posts asked for")
		w.push(alice, carol)
		synctest.Wait()
		atA, atB, atC := (<-a.Events).(*retwis.PostAdded), (<-b.Events).(*retwis.PostAdded), (<-c.Events).(*retwis.PostAdded)
		if atA != atB {
			t.Error("subscribers of one timeline got two events")
		}
		if atA.Edge.Post != atC.Edge.Post {
			t.Error("subscribers of two timelines got two copies of the post")
		}
		if n := w.called("Posts asked for") - before; n != 1 {
			t.Errorf("%d posts were loaded, want 1", n)
		}
	})
}

func TestSubscribeOnlyWorksWhileTheHubRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		h := NewHub(w, slog.New(slog.DiscardHandler), Options{})
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe before Run: %v", err)
		}
		stop := start(t, h)
		idle, behind := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		idle.want("caught up 0")
		for range 3 * channelLength {
			w.push(alice)
		}
		synctest.Wait()
		stop()
		if err := idle.Err(); err != nil {
			t.Errorf("the subscription was ended by %v, want nil", err)
		}
		for range behind.Events { // until it is closed
		}
		if err := behind.Err(); err != nil {
			t.Errorf("the subscription of the slow reader was ended by %v, want nil", err)
		}
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe after Run: %v", err)
		}
		if err := h.Run(t.Context()); err == nil {
			t.Error("Run ran a second time")
		}
		if got := w.present(); len(got) > 0 {
			t.Errorf("%v are still present", got)
		}
	})
}

func TestStoppingTheHubEndsASubscribeUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fail(true, "Enter")
		h := NewHub(w, slog.New(slog.DiscardHandler), Options{})
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

func TestReadyWhenEveryChannelInUseIsSubscribed(t *testing.T) {
	inBubble(t, Options{Linger: time.Second}, func(t *testing.T, w *world, h *Hub) {
		if err := h.Ready(); err != nil {
			t.Errorf("without a subscriber: %v", err)
		}
		r := subscribe(t, h, alice, "")
		if err := h.Ready(); err != nil {
			t.Errorf("with a subscriber: %v", err)
		}
		w.fail(true, "Listen")
		w.cut(w.PartitionOf(alice), false)
		synctest.Wait()
		if err := h.Ready(); err == nil {
			t.Error("ready without a channel")
		}
		w.fail(false, "Listen")
		time.Sleep(5 * time.Second)
		if err := h.Ready(); err != nil {
			t.Errorf("with the channel again: %v", err)
		}
		r.close()
	})
}
