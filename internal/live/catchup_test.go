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
	client := func(n byte) ratelimit.Client {
		return ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, n, 1})}
	}
	heavy, light := client(1), client(2)
	var q catchUpQueue
	started := 0
	q.open(func() { started++ }, 2*ofNetwork)
	add := func(clients ...ratelimit.Client) {
		f := &feed{}
		for _, c := range clients {
			f.subscribers.add(&subscription{client: c}, Options{}.withDefaults())
		}
		q.add(f)
	}
	for range 10 {
		add(heavy)
	}
	add(light)
	want := func(c ratelimit.Client) {
		t.Helper()
		if f, got := q.next(); f == nil || got != cost.NetworkOf(c) {
			t.Fatalf("the next feed is %v, of %v, want one of %v", f, got, c)
		}
	}
	wantNone := func() {
		t.Helper()
		if f, got := q.next(); f != nil {
			t.Fatalf("the next feed is one of %v, want none", got)
		}
	}
	if started != 11 {
		t.Fatalf("%d goroutines were started", started)
	}
	want(heavy)
	want(light)
	want(heavy)
	wantNone() // one network has an eighth of the goroutines
	q.done(cost.NetworkOf(light))
	wantNone()
	add(light, light)
	add(heavy, light)
	want(light)
	want(cost.ForSeveral())
	q.done(cost.NetworkOf(cost.ForSeveral()))
	for range 8 {
		q.done(cost.NetworkOf(heavy))
		want(heavy)
	}
	for range 2 {
		q.done(cost.NetworkOf(heavy))
		wantNone()
	}
	q.done(cost.NetworkOf(light))
	wantNone()
	if len(q.waiting)+len(q.busy)+len(q.turns) != 0 {
		t.Errorf("the empty queue holds %v, %v and %v", q.waiting, q.busy, q.turns)
	}
}
