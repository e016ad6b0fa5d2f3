package live

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestAReaderThatDoesNotKeepUpIsCutOff(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, w *world, h *Hub) {
		slow, quick := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		slow.want("caught up 0")
		quick.want("caught up 0")
		for n := range retwis.PostID(20 + 1) { // one is in the hands of the goroutine that sends
			w.push(alice)
			quick.want("+" + (n + 1).String())
		}
		if err := slow.Err(); err != nil {
			t.Errorf("the reader was cut off too early: %v", err)
		}
		w.push(alice)
		quick.want("+22")
		if err := slow.Err(); !errors.Is(err, retwis.ErrSlowConsumer) {
			t.Errorf("the reader was ended by %v, want %v", err, retwis.ErrSlowConsumer)
		}
		w.push(alice)
		quick.want("+23")
		if got := h.Stats(); got.SlowConsumers != 1 || got.Subscribers != 1 {
			t.Errorf("stats %+v, want one cut off, one left", got)
		}

		slow.want("+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "closed")
		slow = subscribe(t, h, alice, slow.cursor)
		slow.want("+9", "+10", "+11", "+12", "+13", "+14", "+15", "+16", "+17", "+18", "+19", "+20",
			"+21", "+22", "+23", "caught up 15")
	})
}

func TestASubscriptionEndsWithItsContext(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		idle := subscribe(t, h, alice, "")
		idle.want("caught up 0")
		for range 20 {
			w.push(alice)
		}
		behind := subscribe(t, h, alice, "")
		replaying := subscribe(t, h, alice, from)
		for range 20 {
			w.push(alice)
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
				t.Errorf("%d events after the end", n)
			}
			if err := r.Err(); err != nil {
				t.Errorf("ended by %v, want nil", err)
			}
		}
		w.push(alice)
		synctest.Wait()
		if got := h.Stats(); got.Subscribers != 0 || got.Feeds != 0 {
			t.Errorf("stats %+v, want nobody left", got)
		}
	})
}

func TestAnIdleSubscriberHasNoGoroutine(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		w.push(alice)
		r := subscribe(t, h, alice, from)
		for range 3 * channelLength {
			w.push(alice)
		}
		time.Sleep(10 * time.Second) // of the bubble: also a feed that had to pause is up to date
		synctest.Wait()
		f := h.snapshot()[0].feeds[alice]
		if s := f.subscribers[0]; !s.replaying && !s.sink.(*channelSink).sending {
			t.Error("nobody sends what waits")
		}
		for range 3*channelLength + 2 {
			<-r.Events
		}
		synctest.Wait()
		if s := f.subscribers[0]; s.replaying || s.waiting != nil {
			t.Errorf("with nothing to tell: telling %v, %d waiting", s.replaying, len(s.waiting))
		}
		for range 3 * channelLength {
			w.push(alice)
		}
		synctest.Wait()
		s := f.subscribers[0].sink.(*channelSink)
		if !s.sending {
			t.Error("nobody sends what waits")
		}
		for range 3 * channelLength {
			<-r.Events
		}
		synctest.Wait()
		if s.sending || s.waiting != nil {
			t.Errorf("with nothing to send: sending %v, %d waiting", s.sending, len(s.waiting))
		}
	})
}
