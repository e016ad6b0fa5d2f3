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
