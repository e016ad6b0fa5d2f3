package live

import (
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestSubscription_DisconnectsASlowConsumer(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		slow, quick := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		slow.want("caught up 0")
		quick.want("caught up 0")
		for n := range retwis.PostID(20 + 1) { // the sending goroutine holds one event
			db.push(alice)
			quick.want("+" + (n + 1).String())
		}
		if err := slow.Err(); err != nil {
			t.Errorf("slow consumer was disconnected before its queue was full: %v", err)
		}
		db.push(alice)
		quick.want("+22")
		if err := slow.Err(); !errors.Is(err, retwis.ErrSlowConsumer) {
			t.Errorf("slow consumer ended with %v, want %v", err, retwis.ErrSlowConsumer)
		}
		db.push(alice)
		quick.want("+23")
		if got := h.Stats(); got.SlowConsumers != 1 || got.Subscribers != 1 {
			t.Errorf("stats %+v, want one slow consumer and one subscriber", got)
		}

		slow.want("+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "closed")
		slow = subscribe(t, h, alice, slow.cursor)
		slow.want("+9", "+10", "+11", "+12", "+13", "+14", "+15", "+16", "+17", "+18", "+19", "+20",
			"+21", "+22", "+23", "caught up 15")
	})
}

func TestSubscription_EndsWithItsContext(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		idle := subscribe(t, h, alice, "")
		idle.want("caught up 0")
		for range 20 {
			db.push(alice)
		}
		behind := subscribe(t, h, alice, "")
		replaying := subscribe(t, h, alice, from)
		for range 20 {
			db.push(alice)
		}
		synctest.Wait()
		for _, r := range []*reader{idle, behind, replaying} {
			r.close()
			synctest.Wait()
			n := 0
			for range r.Events {
				n++
			}
			if n > channelLength+1 {
				t.Errorf("%d events after the end, want at most %d", n, channelLength+1)
			}
			if err := r.Err(); err != nil {
				t.Errorf("subscription ended with %v, want nil", err)
			}
		}
		db.push(alice)
		synctest.Wait()
		if got := h.Stats(); got.Subscribers != 0 || got.Feeds != 0 {
			t.Errorf("stats %+v, want no subscribers and no feeds", got)
		}
	})
}

func TestSubscription_WithoutWaitingEventsHasNoGoroutine(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		db.push(alice)
		r := subscribe(t, h, alice, from)
		for range 3 * channelLength {
			db.push(alice)
		}
		time.Sleep(10 * time.Second) // a feed that backed off has caught up
		synctest.Wait()
		next, stop := iter.Pull(h.snapshot()[0].feeds[alice].subscribers.all())
		s, _ := next()
		stop()
		if !s.replaying && !s.sink.(*channelSink).sending {
			t.Error("no goroutine sends the waiting events")
		}
		for range 3*channelLength + 2 {
			<-r.Events
		}
		synctest.Wait()
		if s.replaying || s.waiting != nil {
			t.Errorf("without waiting events: replaying %v, %d waiting", s.replaying, len(s.waiting))
		}
		for range 3 * channelLength {
			db.push(alice)
		}
		synctest.Wait()
		sink := s.sink.(*channelSink)
		if !sink.sending {
			t.Error("no goroutine sends the waiting events")
		}
		for range 3 * channelLength {
			<-r.Events
		}
		synctest.Wait()
		if sink.sending || sink.waiting != nil {
			t.Errorf("without waiting events: sending %v, %d waiting", sink.sending, len(sink.waiting))
		}
	})
}
