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
		if err := slow.Err(); !errors.Is(err, retwis.ErrTooSlow) {
			t.Errorf("the reader was ended by %v, want %v", err, retwis.ErrTooSlow)
		}
		w.push(alice)
		quick.want("+23")
		if got := h.Stats(); got.CutOffs != 1 || got.Subscribers != 1 {
			t.Errorf("stats %+v, want one cut off, one left", got)
		}

		slow.want("+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "closed")
		slow = subscribe(t, h, alice, slow.cursor)
		slow.want("+9", "+10", "+11", "+12", "+13", "+14", "+15", "+16", "+17", "+18", "+19", "+20",
			"+21", "+22", "+23", "caught up 15")
	})
}

func TestAReplayWaitsForItsReader(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		var want []string
		for range 200 {
			want = append(want, "+"+w.push(alice).String())
		}
		want = append(want, "caught up 200")
		patient, unlucky := subscribe(t, h, alice, from), subscribe(t, h, alice, from)
		time.Sleep(time.Minute)
		for range 20 {
			want = append(want, "+"+w.push(alice).String())
		}
		synctest.Wait()
		patient.want(want...)

		w.push(alice)
		patient.want("+221")
		if err := unlucky.Err(); !errors.Is(err, retwis.ErrTooSlow) {
			t.Errorf("what waits behind a replay is not bounded: %v", err)
		}
	})
}

func TestAReplayOutlastsAnOutage(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		w.push(alice)
		w.fail(true, "Posts")
		r := subscribe(t, h, alice, from)
		gone := subscribe(t, h, alice, from)
		time.Sleep(20 * time.Second)
		r.want()
		gone.close()
		gone.want("closed")
		w.fail(false, "Posts")
		time.Sleep(10 * time.Second)
		r.want("+1", "caught up 1")
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
		if s := f.subscribers[0]; !s.telling && !s.sink.(*stream).sending {
			t.Error("nobody sends what waits")
		}
		for range 3*channelLength + 2 {
			<-r.Events
		}
		synctest.Wait()
		if s := f.subscribers[0]; s.telling || s.waiting != nil {
			t.Errorf("with nothing to tell: telling %v, %d waiting", s.telling, len(s.waiting))
		}
		for range 3 * channelLength {
			w.push(alice)
		}
		synctest.Wait()
		s := f.subscribers[0].sink.(*stream)
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
