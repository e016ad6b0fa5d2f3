package live

import (
	"errors"
	"fmt"
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

func TestListeningLingers(t *testing.T) {
	inBubble(t, Options{Linger: 30 * time.Second}, func(t *testing.T, w *world, h *Hub) {
		listens := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.listens[w.PartitionOf(alice)]
		}
		subscribe(t, h, alice, "").close()
		time.Sleep(29 * time.Second)
		r := subscribe(t, h, alice, "")
		time.Sleep(2 * time.Minute)
		if n, calls := listens(), w.called("Listen"); n != 1 || calls != 1 {
			t.Errorf("%d listen, after %d calls, want 1 after 1", n, calls)
		}
		r.close()
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := listens(); n != 0 {
			t.Errorf("%d listen without a subscriber", n)
		}
		r = subscribe(t, h, alice, "")
		w.push(alice)
		r.want("caught up 0", "+1")
	})
}

func TestListeningIsTriedAgain(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		r := subscribe(t, h, alice, "")
		w.fail(true, "Listen")
		w.cut(w.PartitionOf(alice), false)
		time.Sleep(3 * time.Minute)
		w.push(alice)
		r.want("caught up 0")
		w.fail(false, "Listen")
		time.Sleep(10 * time.Second)
		r.want("+1")
	})
}

func TestAnOverfullInboxIsALoss(t *testing.T) {
	t.Parallel()
	b := inbox{ready: make(chan struct{}, 1)}
	big := retwis.LiveMessage{Kind: retwis.LivePushed, Recipients: make([]retwis.Recipient, inboxLimit/2)}
	for n, want := range []bool{false, true, false, true, false} {
		if got := b.put(big); got != want {
			t.Errorf("message %d: overflow %v, want %v", n+1, got, want)
		}
	}
	var kinds []string
	for batch := b.take(); len(batch) > 0; batch = b.take() {
		for _, m := range batch {
			kinds = append(kinds, string(m.Kind))
		}
	}
	if diff := cmp.Diff([]string{"j", "+"}, kinds); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if b.weight != 0 {
		t.Errorf("weight %d when empty", b.weight)
	}
}

func TestMessagesAreTakenInOrder(t *testing.T) {
	t.Parallel()
	b := inbox{ready: make(chan struct{}, 1)}
	for n := range retwis.PostID(2*messageBatch + 10) {
		b.put(retwis.LiveMessage{Post: n})
	}
	var next retwis.PostID
	for batch := b.take(); len(batch) > 0; batch = b.take() {
		if len(batch) > messageBatch {
			t.Errorf("%d messages at once", len(batch))
		}
		for _, m := range batch {
			if m.Post != next {
				t.Fatalf("message %d, want %d", m.Post, next)
			}
			next++
		}
	}
}

func TestAnErrorOfTheSourceIsPassedOn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		w.fail(true, "Since")
		_, err := h.Subscribe(t.Context(), alice, w.cursor(alice))
		if !errors.Is(err, errOutage) {
			t.Errorf("Subscribe: %v, want %v", err, errOutage)
		}
		if want := fmt.Sprintf("subscribing to timeline %s: %v", alice, errOutage); err.Error() != want {
			t.Errorf("Subscribe: %q, want %q", err, want)
		}
	})
}
