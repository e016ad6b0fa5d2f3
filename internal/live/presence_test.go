package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPresenceLastsAsLongAsThereAreSubscribers(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second}, func(t *testing.T, w *world, h *Hub) {
		first, second := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		other := subscribe(t, h, bob, "")
		for _, step := range []struct {
			do   func()
			want []string
		}{
			{func() {}, []string{"h1024@0", "h1025@1"}},
			{func() { time.Sleep(5 * time.Minute) }, []string{"h1024@0", "h1025@1"}},
			{first.close, []string{"h1024@0", "h1025@1"}},
			{second.close, []string{"h1025@1"}},
			{other.close, nil},
		} {
			step.do()
			synctest.Wait()
			if diff := cmp.Diff(step.want, w.present()); diff != "" {
				t.Errorf("present (-want +got):\n%s", diff)
			}
		}
	})
}

func TestPresenceIsToldInBatches(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second}, func(t *testing.T, w *world, h *Hub) {
		const subscribers = 2*presenceBatch + 100
		w.latency = time.Millisecond // so that some gather
		for n := range retwis.UserID(subscribers) {
			go func() { _, _ = h.Subscribe(t.Context(), retwis.Home((n+1)*1024), "") }()
		}
		time.Sleep(time.Second)
		if n := len(w.present()); n != subscribers {
			t.Errorf("%d timelines are present, want %d", n, subscribers)
		}
		if n := w.called("longest Enter"); n > presenceBatch {
			t.Errorf("%d timelines were entered at once, want at most %d", n, presenceBatch)
		}
		before := w.called("Enter")
		time.Sleep(10 * time.Second)
		if n := w.called("Enter") - before; n != 3 {
			t.Errorf("presence was refreshed by %d calls, want 3", n)
		}
	})
}

func TestComingAndGoingEndsPresent(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		w.latency = 10 * time.Millisecond
		for n := range 50 {
			r := subscribe(t, h, alice, "")
			time.Sleep(time.Duration(n%12) * time.Millisecond)
			r.close()
			time.Sleep(time.Duration(n%5) * time.Millisecond)
		}
		r := subscribe(t, h, alice, "")
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"h1024@0"}, w.present()); diff != "" {
			t.Errorf("present (-want +got):\n%s", diff)
		}
		w.push(alice)
		time.Sleep(time.Second)
		r.want("caught up 0", "+1")
	})
}

func TestPresenceThatLapsedMakesFeedsRead(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second, CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")

		w.fail(true, "Enter")
		time.Sleep(12 * time.Second) // one refresh fails
		w.fail(false, "Enter")
		time.Sleep(10 * time.Second)
		if n := h.Stats().CatchUps; n != 0 {
			t.Errorf("the list was read %d times while presence lasted", n)
		}

		w.fail(true, "Enter", "Leave")
		time.Sleep(time.Minute)
		w.push(alice)
		r.want()
		w.fail(false, "Enter")
		time.Sleep(10 * time.Second)
		r.want("+1")
	})
}
