package live

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

func subscribeFrom(t *testing.T, h *Hub, address string, timeline retwis.TimelineID, after retwis.Cursor) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	client := ratelimit.Client{Address: netip.MustParseAddr(address)}
	s, err := h.Subscribe(cost.With(ctx, cost.NewMeter(cost.Options{Client: client})), timeline, after)
	if err != nil {
		t.Fatalf("Subscribe: %v", err)
	}
	return &reader{Subscription: s, t: t, close: cancel, cursor: after}
}

func withTail(t *testing.T, first int, members int) *subscribers {
	t.Helper()
	h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirst: first})
	t.Cleanup(h.wg.Wait)
	l := &subscribers{}
	for range members {
		l.add(newSubscription(t.Context(), h, nil), h.options, true)
	}
	return l
}

// Attack: a network had 32 subscriptions to each of 500 timelines of a partition, and one post was for all of them. Events of others waited until 16 000
// subscriptions had it.
func TestPartition_FewOfANetworkAreFirstBesideOthers(t *testing.T) {
	t.Parallel()
	const most = 5
	h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirstOfPartition: most})
	p := newPartition(t.Context(), h, 0)
	join := func(timeline retwis.TimelineID, network byte) (*feed, *subscription) {
		f := p.feeds[timeline]
		if f == nil {
			f = &feed{partition: p, timeline: timeline}
			p.feeds[timeline] = f
		}
		s := newSubscription(t.Context(), h, &narrowSink{})
		s.client = clientOf(0, network)
		if !f.attach(s, reading{}, true) {
			t.Fatal("not attached")
		}
		return f, s
	}
	leave := func(f *feed, s *subscription) { f.remove(s) }
	var alone []func()
	for n := range retwis.UserID(2 * most) { // nobody else is there
		f, s := join(retwis.Home(n+1), 1)
		if s.tail != nil {
			t.Errorf("subscription %d of the only network is in a tail", n)
		}
		alone = append(alone, func() { leave(f, s) })
	}
	other, theirs := join(retwis.Home(100), 2)
	if _, s := join(retwis.Home(101), 1); s.tail == nil {
		t.Errorf("a network has more than %d first subscriptions beside another one", most)
	}
	for _, leave := range alone[most-1:] {
		leave()
	}
	last, s := join(retwis.Home(102), 1)
	if s.tail != nil {
		t.Error("a subscription is in a tail after others have left")
	}
	leave(last, s)
	leave(other, theirs)
	for _, leave := range alone[:most-1] {
		leave()
	}
	if len(p.firsts) != 0 {
		t.Errorf("%d first subscriptions are counted after all have left", len(p.firsts))
	}
}

// tailOf returns the only tail.
func tailOf(l *subscribers) *tail {
	for _, t := range l.tails {
		return t
	}
	return nil
}

func TestTail_TheFirstOfEachNetworkAreNotInIt(t *testing.T) {
	t.Parallel()
	h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirst: 3})
	l := &subscribers{}
	join := func(network byte) *subscription {
		s := newSubscription(t.Context(), h, nil)
		s.client.Address = netip.AddrFrom4([4]byte{192, 0, 2, network})
		l.add(s, h.options, true)
		return s
	}
	inTail := func(s *subscription) bool { return s.tail != nil }
	var large, small []*subscription
	for range 10 {
		large = append(large, join(1))
	}
	for n := range byte(5) {
		small = append(small, join(2), join(3+n))
	}
	if n := slices.IndexFunc(large, inTail); n != 3 {
		t.Errorf("subscription %d of a large network is the first in the tail, want 3", n)
	}
	if got := slices.DeleteFunc(small, func(s *subscription) bool { return !inTail(s) }); len(got) != 2 || got[0].network() != large[0].network() && got[0].client.Address.As4()[3] != 2 {
		t.Errorf("%d subscriptions of small networks are in the tail, want two of the network with five", len(got))
	}
	l.remove(large[0], h.options)
	if inTail(join(1)) || !inTail(join(1)) {
		t.Error("a new subscription does not take the place of one that ended")
	}
	for _, s := range slices.Collect(l.all()) {
		l.remove(s, h.options)
	}
	if l.len() != 0 || len(l.networks) != 0 || len(l.tails) != 0 {
		t.Errorf("%d subscribers, %d networks and %d tails remain", l.len(), len(l.networks), len(l.tails))
	}
}

// Attack: 20 000 subscriptions of one network to the public timeline. Each event went to all of them before the next one, and before the events of other timelines.
func TestTail_DelaysNoOtherSubscriber(t *testing.T) {
	t.Parallel()
	l := withTail(t, 2, 1000)
	entered, leave := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var late int
	for n := range 3 {
		early := 0
		l.visit(func(s *subscription) {
			if s.tail == nil {
				early++
				return
			}
			if n == 0 && s.index == 0 {
				close(entered)
				<-leave
			}
			mu.Lock()
			late++
			mu.Unlock()
		})
		if early != 2 {
			t.Errorf("visit %d reached %d of the first subscribers before it returned, want 2", n, early)
		}
		if n == 0 {
			<-entered
		}
	}
	close(leave)
	tailOf(l).hub.wg.Wait()
	if late != 3*998 {
		t.Errorf("%d visits to the tail, want %d", late, 3*998)
	}
}

// Attack: the events of crowds on several timelines occupied all cores.
func TestTail_TakesTurns(t *testing.T) {
	t.Parallel()
	l := withTail(t, 1, 100)
	tailOf(l).hub.options.Shares = cost.NewShares()
	var done []func()
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		end, err := tailOf(l).hub.options.Shares.Hash(t.Context(), l.first[0].client) // as much as a network may have
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, end)
	}
	var visits atomic.Int64
	l.visit(func(*subscription) { visits.Add(1) })
	time.Sleep(10 * time.Millisecond)
	if n := visits.Load(); n != 1 {
		t.Errorf("%d visits without a turn, want that of the first subscriber", n)
	}
	for _, end := range done {
		end()
	}
	tailOf(l).hub.wg.Wait()
	if n := visits.Load(); n != 100 {
		t.Errorf("%d visits, want 100", n)
	}
}

// Attack: a network with thousands of subscriptions to a timeline rested, and another one with many waited for each of these rests.
func TestTail_WaitsForNoOtherNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := cost.NewShares()
		h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirst: 1, Shares: shares})
		l := &subscribers{}
		visits := map[ratelimit.Key]*atomic.Int64{}
		const each = 4 * tailBatch
		for n := range 2 * each {
			s := newSubscription(t.Context(), h, nil)
			s.client.Address = netip.AddrFrom4([4]byte{192, 0, 2, byte(n % 2)})
			visits[s.network()] = &atomic.Int64{}
			l.add(s, h.options, true)
		}
		resting, other := l.first[0], l.first[1]
		var turns []*cost.Turn // of the first network, which it does not get back for a while
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			turns = append(turns, shares.Decode(t.Context(), resting.client))
		}
		l.visit(func(s *subscription) { visits[s.network()].Add(1) })
		synctest.Wait()
		if of, others := visits[resting.network()].Load(), visits[other.network()].Load(); of != 1 || others != each {
			t.Errorf("%d visits to a network without a turn, want 1; %d to another one, want %d", of, others, each)
		}
		for _, turn := range turns {
			turn.End()
		}
		h.wg.Wait()
		if of := visits[resting.network()].Load(); of != each {
			t.Errorf("%d visits to the network in the end, want %d", of, each)
		}
	})
}

// Each member has every visit from when it joins until it leaves, once and in order, while others come and go.
func TestTail_VisitsEachMemberOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		l := withTail(t, -1, 300)
		visited := map[*subscription][]int{}
		var mu sync.Mutex
		joined, left := map[*subscription]int{}, map[*subscription]int{}
		for s := range l.all() {
			joined[s] = 0
		}
		const visits = 200
		for n := range visits {
			l.visit(func(s *subscription) {
				mu.Lock()
				defer mu.Unlock()
				visited[s] = append(visited[s], n)
			})
			for range rand.N(4) {
				all := slices.Collect(l.all())
				s := all[rand.N(len(all))]
				l.remove(s, tailOf(l).hub.options)
				left[s] = n + 1
				s = newSubscription(t.Context(), tailOf(l).hub, nil)
				l.add(s, tailOf(l).hub.options, true)
				joined[s] = n + 1
			}
			if n%10 == 0 {
				time.Sleep(time.Duration(rand.N(200)) * time.Microsecond)
			}
		}
		tailOf(l).hub.wg.Wait()
		for s, from := range joined {
			got := visited[s]
			for i, n := range got {
				if n != from+i {
					t.Fatalf("a member that joined at visit %d had the visits %v", from, got)
				}
			}
			end, gone := left[s]
			if gone && from+len(got) > end || !gone && from+len(got) != visits {
				t.Fatalf("a member that was there from visit %d to %d of %d had %d", from, end, visits, len(got))
			}
		}
		if len(slices.Collect(l.all())) != 300 {
			t.Fatal("the number of members is wrong")
		}
	}
}

// A tail that falls behind by as many events as may wait for a subscriber ends its subscriptions, which resume.
func TestTail_EndsWhenItIsTooFarBehind(t *testing.T) {
	t.Parallel()
	l := withTail(t, -1, 100)
	tailOf(l).hub.options.QueueLength = 4
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	for range 6 {
		l.visit(func(s *subscription) {
			once.Do(func() {
				close(entered)
				<-leave
			})
		})
		<-entered
	}
	close(leave)
	tailOf(l).hub.wg.Wait()
	for s := range l.all() {
		if !errors.Is(s.reason, retwis.ErrSlowConsumer) || s.ctx.Err() == nil {
			t.Fatalf("a member that is too far behind ended with %v", s.reason)
		}
	}
	later := newSubscription(t.Context(), tailOf(l).hub, nil)
	l.add(later, tailOf(l).hub.options, true)
	visited := false
	l.visit(func(s *subscription) { visited = visited || s == later })
	tailOf(l).hub.wg.Wait()
	if !visited || later.reason != nil {
		t.Errorf("a member that joined afterwards: visited %v, ended with %v", visited, later.reason)
	}
}

// A subscriber in the tail has the same events as one among the first, also the reset for its own filter.
func TestTail_HasTheSameEvents(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		h.options.MaxFirst = 1
		var all []*reader
		for _, address := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"} {
			r := subscribeFrom(t, h, address, alice, "")
			r.want("caught up 0")
			all = append(all, r)
		}
		var viewers []*reader // the second one is in the tail
		for range 2 {
			r := subscribeAs(t, h, retwis.Subscriber{User: 7}, alice, "")
			r.want("caught up 0")
			viewers = append(viewers, r)
		}
		want := func(rest []*reader, events ...string) {
			t.Helper()
			for _, r := range rest {
				r.want(events...)
			}
		}
		db.push(alice)
		db.push(alice)
		want(all, "+1", "+2")
		want(viewers, "+1", "+2")
		db.raiseFilter(7, alice)
		want(all)
		want(viewers, "HISTORY_CHANGED")
		db.push(alice)
		want(all, "+3")
		want(viewers, "+3")
		all[1].close()
		all[1].want("closed")
		db.push(alice)
		all[2].want("+4")
		subscribeFrom(t, h, "192.0.2.1", alice, all[1].cursor).want("+4", "caught up 1")
	})
}

// Attack: a network had subscriptions to 20 000 timelines, nearly all of them in tails. Each tail kept up to 1024 events, together 10 GB.
func TestTail_CountsItsEventsForTheNetwork(t *testing.T) {
	t.Parallel()
	const room = 20 // events
	l := withTail(t, -1, 1)
	of := tailOf(l)
	events := of.hub.options.Shares.Events
	var others cost.EventAccount // of other tails
	if !others.Grow(events, of.network, 16<<20-room*cost.EventBytes) {
		t.Fatal("the share of a network is smaller than 16 MB")
	}
	before := events.Used()
	entered, leave := make(chan struct{}), make(chan struct{})
	l.visit(func(*subscription) {
		close(entered)
		<-leave
	})
	<-entered
	queued, most := 0, 0
	for range of.hub.options.QueueLength {
		if l.visit(func(*subscription) {}); len(of.queue) <= queued {
			break
		}
		queued, most = len(of.queue), max(most, events.Used()-before)
	}
	if queued < room || queued > room+8 { // eight are not counted
		t.Errorf("%d events wait beside many of other tails, want about %d", queued, room)
	}
	if most == 0 || most > room*cost.EventBytes {
		t.Errorf("%d bytes are counted for %d events", most, queued)
	}
	if n := events.Used() - before; n != 0 || len(of.queue) != 1 {
		t.Errorf("%d bytes of the dropped events are counted, and %d visits wait, want only the end", n, len(of.queue))
	}
	close(leave)
	of.hub.wg.Wait()
	if s := of.members[0]; !errors.Is(s.reason, retwis.ErrSlowConsumer) {
		t.Errorf("the member of a tail with too many events ended with %v", s.reason)
	}
	entered, leave = make(chan struct{}), make(chan struct{})
	others.Shrink(0)
	l.visit(func(*subscription) {
		close(entered)
		<-leave
	})
	<-entered
	for range room {
		l.visit(func(*subscription) {})
	}
	if events.Used() == 0 {
		t.Error("waiting events are not counted")
	}
	close(leave)
	of.hub.wg.Wait()
	if n := events.Used(); n != 0 {
		t.Errorf("%d bytes are counted after all visits", n)
	}
}

// Attack: a network let its tails fall behind again and again. The messages of the events that were dropped cost nothing.
func TestTail_PaysForDroppedEvents(t *testing.T) {
	t.Parallel()
	const queueLength = 4
	l := withTail(t, -1, 3)
	of := tailOf(l)
	of.hub.options.QueueLength = queueLength
	var charged [3]int
	for i, s := range of.members {
		s.sink = &narrowSink{}
		s.charge = func(points int) error {
			charged[i] += points
			return nil
		}
	}
	of.members[0].cancel() // it would be the first one
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	l.visit(func(*subscription) {
		once.Do(func() {
			close(entered)
			<-leave
		})
	})
	<-entered
	const overflows = 3 // of which the later ones drop the end, too
	dropped := 0
	for of.next < 1+overflows*queueLength {
		l.handOut(outgoing{event: &retwis.Advanced{}, events: 1 + cost.EventsPerFeed})
		dropped++
	}
	close(leave)
	of.hub.wg.Wait()
	if want := [3]int{0, dropped * (1 + cost.EventsPerFeed) / cost.EventsPerPoint, 0}; charged != want {
		t.Errorf("charged the members %d points for %d events that were dropped, want %d", charged, dropped, want)
	}
}

// The members of a tail are of one network. Looking at 20 000 of them took a millisecond, for which the partition waited.
func TestFeed_LooksAtOneMemberOfATail(t *testing.T) {
	t.Parallel()
	h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirst: -1})
	f := &feed{}
	join := func(network byte) *subscription {
		s := newSubscription(t.Context(), h, nil)
		s.client = clientOf(0, network)
		f.subscribers.add(s, h.options, true)
		return s
	}
	of := join(1).network()
	for range 10 {
		join(1).client = clientOf(0, 2) // which is seen if the feed looks at it
	}
	if got := cost.NetworkOf(f.client()); got != of {
		t.Errorf("the client of a tail is of the network %v, want %v", got, of)
	}
	join(3)
	if got := f.client(); got != cost.ForSeveral() {
		t.Errorf("the client of tails of two networks is %v, want that of several", got)
	}
}
