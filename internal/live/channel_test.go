package live

import (
	"testing"
	"testing/synctest"
	"time"
)

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
