package live

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestProbe_ReplacesAConnectionThatDeliversNothing(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribe(t, h, alice, "")
		db.push(alice)
		r.want("caught up 0", "+1")
		db.silence(db.PartitionOf(alice))
		db.push(alice)
		r.want()
		time.Sleep(h.options.ProbeEvery*2 + h.options.ProbeWait + time.Second)
		r.want("+2")
		if got := h.Stats().SilentConnections; got != 1 {
			t.Errorf("%d connections were replaced, want 1", got)
		}
		db.push(alice)
		r.want("+3")
	})
}

func TestProbe_KeepsAQuietConnection(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		subscribe(t, h, alice, "").want("caught up 0")
		time.Sleep(10 * time.Minute)
		if got, probes := h.Stats().SilentConnections, db.callCount("Probe"); got != 0 || probes < 25 || probes > 40 {
			t.Errorf("%d connections were replaced after %d probes, want 0 after 25 to 40", got, probes)
		}
	})
}

func TestProbe_IsNotSentOnABusyConnection(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		subscribe(t, h, alice, "")
		for range 60 {
			db.push(alice)
			time.Sleep(5 * time.Second)
		}
		if probes := db.callCount("Probe"); probes != 0 {
			t.Errorf("%d probes, want none", probes)
		}
	})
}

// A probe that could not be sent proves nothing about the connection.
func TestProbe_KeepsTheConnectionIfItCannotBeSent(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		subscribe(t, h, alice, "").want("caught up 0")
		db.fail(true, "Probe")
		db.silence(db.PartitionOf(alice))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if got := h.Stats().SilentConnections; got != 0 {
			t.Errorf("%d connections were replaced", got)
		}
	})
}
