package live

import (
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/pubsub"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
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
			f.subscribers.add(&subscription{client: c}, Options{}.withDefaults(), true)
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
	q.done(cost.NetworkOf(light), 0)
	wantNone()
	add(light, light)
	add(heavy, light)
	want(light)
	want(cost.ForSeveral())
	q.done(cost.NetworkOf(cost.ForSeveral()), 0)
	for range 8 {
		q.done(cost.NetworkOf(heavy), 0)
		want(heavy)
	}
	for range 2 {
		q.done(cost.NetworkOf(heavy), 0)
		wantNone()
	}
	q.done(cost.NetworkOf(light), 0)
	wantNone()
	if len(q.waiting)+len(q.busy)+len(q.turns) != 0 {
		t.Errorf("the empty queue holds %v, %v and %v", q.waiting, q.busy, q.turns)
	}
}

// Attack: reposts to 400 watched homes of one network made each of them catch up again and again, and Redis did little else.
func TestCatchUpQueue_ANetworkRestsAndOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := func(n byte) ratelimit.Client {
			return ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, n, 1})}
		}
		heavy, light := cost.NetworkOf(client(1)), cost.NetworkOf(client(2))
		var started atomic.Int32
		var q catchUpQueue
		q.open(func() { started.Add(1) }, 1)
		add := func(n byte) {
			f := &feed{}
			f.subscribers.add(&subscription{client: client(n)}, Options{}, true)
			q.add(f)
		}
		next := func() ratelimit.Key {
			f, network := q.next()
			if f == nil {
				return ratelimit.Key{}
			}
			return network
		}
		add(1)
		add(1)
		if next() != heavy {
			t.Fatal("the only network has no turn")
		}
		const rest = 50 * time.Millisecond
		q.done(heavy, rest)
		if network := next(); network != (ratelimit.Key{}) {
			t.Fatalf("%v has a turn while it rests", network)
		}
		add(2)
		if started.Load() != 2 || next() != light {
			t.Fatal("another network waits for the rest")
		}
		q.done(light, 0)
		if next() != (ratelimit.Key{}) || started.Load() != 2 {
			t.Fatal("there is a further feed")
		}
		time.Sleep(rest)
		synctest.Wait()
		if started.Load() != 3 || next() != heavy {
			t.Error("the network has no turn after its rest")
		}
	})
}

// A network may have thousands of feeds in the queue. A subscriber of another network who joins one of them does not wait for the others.
func TestCatchUpQueue_DoesNotDelayAnotherNetworkThatJoins(t *testing.T) {
	t.Parallel()
	client := func(n byte) ratelimit.Client {
		return ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, n, 1})}
	}
	heavy, light := client(1), client(2)
	h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{})
	h.queue.open(func() {}, 2*ofNetwork)
	p := newPartition(t.Context(), h, 0)
	const feeds = 10
	var last *feed
	for range feeds {
		last = &feed{partition: p, accepting: true, positioned: true, timeline: alice}
		last.subscribers.add(&subscription{client: heavy}, h.options, true)
		last.requestCatchUp()
	}
	joins := func(who ratelimit.Client) {
		t.Helper()
		s := &subscription{client: who, hub: h}
		if caughtUp, err := p.attach(last, s, reading{events: pubsub.Replay{Position: retwis.TimelinePosition{Epoch: 7}}}, false); err != nil || caughtUp == nil {
			t.Fatalf("attach: %v, %v", caughtUp, err)
		}
	}
	want := func(f *feed, network ratelimit.Key) {
		t.Helper()
		if got, of := h.queue.next(); of != network || f != nil && got != f {
			t.Fatalf("the next feed is %p, of %v, want %p, of %v", got, of, f, network)
		}
	}
	joins(heavy)
	want(nil, cost.NetworkOf(heavy))
	joins(light)
	want(nil, cost.NetworkOf(heavy))
	want(last, cost.NetworkOf(cost.ForSeveral()))
	if last.client() != cost.ForSeveral() {
		t.Error("the feed catches up within the shares of the network whose turn others would await")
	}
	last.readAgain = false
	last.endBusy()
	if cost.NetworkOf(last.client()) != cost.NetworkOf(heavy) {
		t.Error("nobody waits any more, and the feed is still one of several networks")
	}
	h.queue.done(cost.NetworkOf(cost.ForSeveral()), 0)
	for range feeds - 3 {
		h.queue.done(cost.NetworkOf(heavy), 0)
		want(nil, cost.NetworkOf(heavy))
	}
}
