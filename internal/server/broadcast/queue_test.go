package broadcast

import (
	"net/netip"
	"slices"
	"testing"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// recipient records what is emitted.
type recipient struct {
	cursors []retwis.Cursor
	more    []bool
}

func (r *recipient) Emit(_ *Rendered, cursor retwis.Cursor, more bool) {
	r.cursors, r.more = append(r.cursors, cursor), append(r.more, more)
}
func (*recipient) Price(bytes int, _ bool) int { return bytes }
func (*recipient) Room() <-chan struct{}       { return nil }
func (*recipient) Stop()                       {}
func (*recipient) Failed(error)                {}
func (*recipient) Ended(error)                 {}

func TestQueue_ClientsTakeTurns(t *testing.T) {
	t.Parallel()
	of := &network{}
	testTurns(t, of, of, 1, 1)
}

// Attack: each of 200 users of a network had 100 subscriptions. A subscriber of another network had its turn after all of them.
func TestQueue_NetworksTakeTurns(t *testing.T) {
	t.Parallel()
	testTurns(t, &network{}, &network{}, 20, 1)
}

// testTurns queues three events for 100 members of each of some clients of one network, then two for the member of a client of another one. It requires
// that the latter are delivered after a number of turns.
func testTurns(t *testing.T, of, ofLast *network, clients, turns int) {
	t.Helper()
	q := &queue{running: true} // by this test
	shared := &group{groups: &Groups{shares: cost.NewShares()}}
	var members []*Member
	for range clients {
		heavy := &lane{}
		for range 100 {
			members = append(members, &Member{group: shared, queue: q, network: of, lane: heavy})
		}
	}
	last := &Member{group: shared, queue: q, network: ofLast, lane: &lane{}}
	events := []retwis.Event{&retwis.Advanced{Cursor: "1"}, &retwis.Advanced{Cursor: "2"}, &retwis.Advanced{Cursor: "3"}}
	for _, e := range events {
		for _, m := range members {
			m.Take(e)
		}
	}
	last.Take(events[0])
	last.Take(events[1])

	var order []queued
	for batch := q.take(nil); len(batch) > 0; batch = q.take(nil) {
		order = append(order, batch...)
	}
	if len(order) != len(events)*len(members)+2 || q.running {
		t.Fatalf("%d events were delivered; running: %t", len(order), q.running)
	}
	at := slices.IndexFunc(order, func(e queued) bool { return e.to == last })
	if at != turns*turnEvents || order[at+1].to != last || order[at+1].event != events[1] {
		t.Errorf("the events of a client with one subscription come at %d, want %d", at, turns*turnEvents)
	}
	next := map[*Member]int{}
	for _, e := range order {
		if e.event != events[next[e.to]] {
			t.Fatal("a subscription gets its events in another order")
		}
		next[e.to]++
	}
}

// A filter takes time, and the caller of Take holds a lock.
func TestMember_FiltersInTheQueue(t *testing.T) {
	t.Parallel()
	to := &recipient{}
	q := &queue{running: true} // by this test
	m := &Member{group: &group{groups: &Groups{ctx: t.Context(), shares: cost.NewShares()}}, queue: q, network: &network{}, lane: &lane{}, to: to}
	var filtered int
	m.FilterBy(func(e retwis.Event) retwis.Event {
		if filtered++; e.EventCursor() == "suppressed" {
			return nil
		}
		return e
	})
	m.Take(&retwis.Advanced{Cursor: "passed"})
	m.Take(&retwis.Advanced{Cursor: "suppressed"})
	if filtered > 0 {
		t.Error("Take applied the filter")
	}
	q.rendered.content, _ = contentOf(&retwis.Advanced{})
	q.rendered.event = &Rendered{}
	for _, e := range q.take(nil) {
		m.pending.Add(-1) // as run does
		q.deliver(e, true)
	}
	if filtered != 2 || !slices.Equal(to.cursors, []retwis.Cursor{"passed"}) || to.more[0] {
		t.Errorf("%d events were filtered; %q were sent, of which more follow: %t", filtered, to.cursors, to.more)
	}
	for range maxPending {
		m.Take(&retwis.Advanced{Cursor: "suppressed"})
	}
	if m.Take(&retwis.Advanced{Cursor: "suppressed"}) {
		t.Error("more events wait for the filter than may wait")
	}
}

// Attack: 1500 users of one network watched their homes, whose events waited for the rests of the network. Each had up to 1024, which took 0.5 GB
// together.
func TestMember_EventsOfANetworkThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	shares := cost.NewShares()
	q := &queue{running: true} // by this test
	of := &group{groups: &Groups{shares: shares}}
	newMember := func(user retwis.UserID, address byte) *Member {
		client := ratelimit.Client{User: user, Address: netip.AddrFrom4([4]byte{192, 0, address, 1})}
		return &Member{group: of, queue: q, network: &network{}, lane: &lane{}, client: client}
	}
	taken := 0
	refused := false
	for user := retwis.UserID(1); !refused && user < 1000; user++ {
		m := newMember(user, 1)
		for range maxPending {
			if !m.Take(&retwis.Advanced{Cursor: "x"}) {
				refused = true
				break
			}
			taken++
		}
	}
	if most := 64<<20/cost.EventBytes + 8*1000; !refused || taken > most {
		t.Errorf("%d events wait, want %d at most", taken, most)
	}
	if !newMember(1, 2).Take(&retwis.Advanced{Cursor: "x"}) {
		t.Error("an event of another network was refused")
	}
	for len(q.take(nil)) > 0 {
	}
	if used := shares.Events.Used(); used != 0 {
		t.Errorf("%d bytes are counted in the end", used)
	}
}
