package fanout

import (
	"testing"

	"retwis/internal/retwis"
)

func TestWaiting_IsACrowdIfOneNetworkCausedMost(t *testing.T) {
	t.Parallel()
	var c waiting
	add := func(network string, n int, want bool) {
		t.Helper()
		c.add(&workItem{actor: retwis.Actor{Network: network}}, n)
		if got := c.crowded(); got != want {
			t.Errorf("with %d more of network %s, of %v: %t, want %t", n, network, c.of, got, want)
		}
	}
	add("a", crowd, false)
	add("a", 1, true)
	add("b", crowd, true)
	add("c", 1, false)
	add("c", -1, true)
	add("b", 3*crowd, true)
	add("a", -crowd-1, true)
	add("b", -4*crowd+1, false)
	add("b", -1, false)
	if len(c.of) != 0 {
		t.Errorf("%v still count", c.of)
	}
}

func TestBehind_GrowsWithTheEntriesOfANetwork(t *testing.T) {
	t.Parallel()
	var w Worker
	add := func(network string, n int, wantNetwork string, wantFactor int) {
		t.Helper()
		w.waiting.add(&workItem{actor: retwis.Actor{Network: network}}, n)
		if got, factor := w.Behind(); got != wantNetwork || factor != wantFactor {
			t.Errorf("with %d more of network %s, of %v: %q and %d, want %q and %d", n, network, w.waiting.of, got, factor, wantNetwork, wantFactor)
		}
	}
	add("a", manyWaiting/2, "", 0)
	add("b", manyWaiting/2, "", 0)
	add("c", 1, "a", 1)
	add("b", manyWaiting/2, "b", 1)
	add("b", manyWaiting, "b", 2)
	add("a", manyWaiting, "b", 2)
	add("b", 3*manyWaiting, "b", 5)
	add("b", -5*manyWaiting+1, "b", 1)
	add("a", 1, "a", 1)
	add("a", -manyWaiting, "", 0)
}
