package live

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAConnectionThatDeliversNothingIsReplaced(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		r := subscribe(t, h, alice, "")
		w.push(alice)
		r.want("caught up 0", "+1")
		w.deafen(w.PartitionOf(alice))
		w.push(alice)
		r.want()
		time.Sleep(h.options.ProbeEvery*2 + h.options.ProbeWait + time.Second)
		r.want("+2")
		if got := h.Stats().SilentConnections; got != 1 {
			t.Errorf("%d connections were replaced", got)
		}
		w.push(alice)
		r.want("+3")
	})
}

func TestAQuietConnectionStays(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		subscribe(t, h, alice, "").want("caught up 0")
		time.Sleep(10 * time.Minute)
		if got, probes := h.Stats().SilentConnections, w.called("Probe"); got != 0 || probes < 25 || probes > 40 {
			t.Errorf("%d replaced after %d probes", got, probes)
		}
	})
}

func TestABusyConnectionIsNotProbed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		subscribe(t, h, alice, "")
		for range 60 {
			w.push(alice)
			time.Sleep(5 * time.Second)
		}
		if probes := w.called("Probe"); probes != 0 {
			t.Errorf("%d probes", probes)
		}
	})
}

// Who cannot send does not know whether it would hear.
func TestAnOutageDeafensNobody(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		subscribe(t, h, alice, "").want("caught up 0")
		w.fail(true, "Probe")
		w.deafen(w.PartitionOf(alice))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if got := h.Stats().SilentConnections; got != 0 {
			t.Errorf("%d connections were replaced", got)
		}
	})
}
