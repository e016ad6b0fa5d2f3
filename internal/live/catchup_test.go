package live

import (
	"net/netip"
	"testing"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// Attack: thousands of watched timelines of one network changed at once, and the first event of another subscriber waited for all of them.
func TestCatchUpQueue_NetworksTakeTurns(t *testing.T) {
	t.Parallel()
	network := func(n byte) cost.Network {
		meter := cost.NewMeter(cost.Options{Client: ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, n, 1})}})
		return cost.NetworkOf(cost.With(t.Context(), meter))
	}
	heavy, light := network(1), network(2)
	var q catchUpQueue
	started := 0
	q.open(func() { started++ }, 4)
	add := func(n cost.Network) { q.add(&feed{subscribers: []*subscription{{network: n}}}) }
	for range 10 {
		add(heavy)
	}
	add(light)
	want := func(n cost.Network) {
		t.Helper()
		if f, got := q.next(); f == nil || got != n {
			t.Fatalf("the next feed is %v, of %v, want one of %v", f, got, n)
		}
	}
	wantNone := func() {
		t.Helper()
		if f, got := q.next(); f != nil {
			t.Fatalf("the next feed is one of %v, want none", got)
		}
	}
	if started != 4 {
		t.Fatalf("%d goroutines were started", started)
	}
	want(heavy)
	want(light)
	want(heavy)
	wantNone() // one network has half of the goroutines
	q.done(light)
	wantNone()
	add(light)
	want(light)
	for range 8 {
		q.done(heavy)
		want(heavy)
	}
	for range 2 {
		q.done(heavy)
		wantNone()
	}
	q.done(light)
	wantNone()
	if len(q.waiting)+len(q.busy)+len(q.turns) != 0 {
		t.Errorf("the empty queue holds %v, %v and %v", q.waiting, q.busy, q.turns)
	}
}
