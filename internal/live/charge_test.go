package live

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Attack: a repost that a timeline may already show makes each of its feeds read the timeline, which was charged to nobody. A user with
// 1000 watched lists had 50 times the work done that the repost cost.
func TestCatchUp_ThatAMessageAskedForIsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const readRows = 100
		db.readRows = readRows
		refused := errors.New("no budget")
		var poor, rich atomic.Int64 // points charged
		budget := int64(2 * readRows / 10)
		first := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(points int) error {
			if poor.Add(int64(points)) > budget {
				return refused
			}
			return nil
		}}, alice, "")
		second := subscribeAs(t, h, retwis.Subscriber{User: 8, Charge: func(points int) error {
			rich.Add(int64(points))
			return nil
		}}, alice, "")
		first.want("caught up 0")
		second.want("caught up 0")

		change := func() { db.raiseFilter(9, alice) }
		time.Sleep(6*time.Minute + time.Second) // not at the time of a search for feeds that are due
		if poor.Load() < 4*readRows/10 || rich.Load() != 0 {
			t.Errorf("charged %d and %d points for regular checks", poor.Load(), rich.Load())
		}
		if err := first.Err(); err != nil {
			t.Errorf("a regular check ended a subscription: %v", err)
		}
		poor.Store(0)
		change() // the next regular check is far away then
		time.Sleep(time.Second)
		poor.Store(0)
		for range 3 {
			change()
			time.Sleep(time.Second)
		}
		if poor.Load() != 3*readRows/10 || rich.Load() != 0 {
			t.Errorf("charged %d and %d points for three changes, want %d and none", poor.Load(), rich.Load(), 3*readRows/10)
		}
		first.want("closed")
		if err := first.Err(); !errors.Is(err, refused) {
			t.Errorf("the subscription without budget ended with %v", err)
		}
		change()
		time.Sleep(time.Second)
		if rich.Load() != readRows/10 {
			t.Errorf("charged the next subscriber %d points, want %d", rich.Load(), readRows/10)
		}
		db.push(alice)
		second.want("+1")
	})
}

// Attack: others posted and deleted all the time, and 30 000 timelines of a client, which nothing else changed, read the removals of their
// partition regularly. That was free, and kept Redis busy.
//
// Attack: 10 000 timelines that nothing changed were checked for days, for the price of their subscriptions.
func TestCheck_IsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		_, charged := subscribePaying(t, h)
		for _, rows := range []int{50, 1500} {
			db.mu.Lock()
			db.readRows = rows
			db.mu.Unlock()
			checks, before := db.callCount("Compare"), charged.Load()
			time.Sleep(10*time.Minute + time.Second)
			checks = db.callCount("Compare") - checks
			if got, want := charged.Load()-before, int64(checks*(rows/10+cost.PerCheck)); checks < 5 || got != want {
				t.Errorf("charged %d points for %d checks of %d rows, want %d", got, checks, rows, want)
			}
		}
	})
}

// Attack: 10 000 subscriptions without a login owed more for their regular checks than the budget of the network. What exceeded the bound of a debt
// was free.
func TestCheck_EndsASubscriptionThatCannotOweMore(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.readRows = 100
		var refused atomic.Pointer[error]
		r := subscribeAs(t, h, retwis.Subscriber{Charge: func(int) error { return *refused.Load() }}, alice, "")
		noBudget := errors.New("no budget")
		refused.Store(&noBudget)
		r.want("caught up 0")
		time.Sleep(5 * time.Minute)
		if err := r.Err(); err != nil {
			t.Errorf("a regular check ended a subscription: %v", err)
		}
		maxDebt := fmt.Errorf("%w: %w", ratelimit.ErrMaxDebt, noBudget)
		refused.Store(&maxDebt)
		time.Sleep(2 * time.Minute)
		r.want("closed")
		if err := r.Err(); !errors.Is(err, noBudget) {
			t.Errorf("the subscription ended with %v", err)
		}
	})
}

// Attack: a subscription that had ended without budget resumed, and its replay used up what was left for other operations: each event is charged when it is
// rendered, so a replay of a thousand was not stopped before.
func TestReplay_EndsWithoutBudget(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		for range 3 * postBatch {
			want = append(want, "+"+db.push(alice).String())
		}
		noBudget, checks := errors.New("no budget"), 0
		r := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(int) error {
			if checks++; checks > 2 {
				return noBudget
			}
			return nil
		}}, alice, from)
		r.want(append(want[:2*postBatch], "closed")...)
		if err := r.Err(); !errors.Is(err, noBudget) {
			t.Errorf("the subscription ended with %v", err)
		}
	})
}

// Attack: 10 000 subscriptions of a client, or subscriptions whose filters nothing passes, made each post of anybody cost 20 to 40
// milliseconds that nobody paid.
//
// Attack: a repost to 1000 watched lists of a client took 80 milliseconds of messages and deliveries. Each list has one subscription, so the first
// one of a timeline pays for the message, too.
func TestDelivery_IsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		refused := errors.New("no budget")
		payer := func(charged *atomic.Int64, budget int64) *reader {
			s := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(points int) error {
				if charged.Add(int64(points)) > budget {
					return refused
				}
				return nil
			}}, alice, "")
			s.want("caught up 0")
			return s
		}
		free := subscribe(t, h, alice, "")
		free.want("caught up 0")
		var ofRich, ofPoor atomic.Int64
		rich, poor := payer(&ofRich, 1000), payer(&ofPoor, 2)
		const events = 4 * cost.EventsPerPoint
		var got, all []string
		for range events {
			db.push(alice)
			all = append(all, free.received()...)
			rich.received()
			if !slices.Contains(got, "closed") {
				got = append(got, poor.received()...)
			}
		}
		if len(all) != events {
			t.Errorf("a subscriber who pays nothing received %d events", len(all))
		}
		if want := int64(events * (1 + cost.EventsPerFeed) / cost.EventsPerPoint); ofRich.Load() != want || rich.Err() != nil {
			t.Errorf("charged the first subscriber who pays %d points for %d events, want %d; ended with %v", ofRich.Load(), events, want, rich.Err())
		}
		if ofPoor.Load() != 3 || len(got) != 3*cost.EventsPerPoint+1 || !errors.Is(poor.Err(), refused) {
			t.Errorf("charged %d points for %d events; ended with %v", ofPoor.Load(), len(got), poor.Err())
		}
		again := subscribe(t, h, alice, poor.cursor)
		again.want("+10", "+11", "+12", "caught up 3")
	})
}

// Attack: a reply that 1000 watched lists of a client hide took 18 milliseconds of their messages, which nobody paid.
func TestHiddenEntries_AreCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		paying, charged := subscribePaying(t, h)
		const entries = advanceEvery - 1
		for range entries {
			db.hide(alice)
		}
		if got := paying.received(); len(got) != 0 {
			t.Errorf("received %v", got)
		}
		if want := int64(entries * cost.EventsPerFeed / cost.EventsPerPoint); charged.Load() != want {
			t.Errorf("charged %d points for %d entries that are hidden, want %d", charged.Load(), entries, want)
		}
	})
}

// Attack: for each repost, the newest 100 entries of a watched list are searched for its post, for a third of the price.
func TestReposts_AreChargedForTheirSearch(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		paying, charged := subscribePaying(t, h)
		db.elementOf = func(n retwis.PostID) retwis.Element {
			return retwis.NewElement(2e15+n, bob.Owner, 0, n)
		}
		const events = 2 * cost.EventsPerPoint
		for range events {
			db.push(alice)
		}
		if got := paying.received(); len(got) != events {
			t.Errorf("received %v", got)
		}
		if want := int64(events * (1 + cost.EventsPerFeed + cost.EventsPerRepost) / cost.EventsPerPoint); charged.Load() != want {
			t.Errorf("charged %d points for %d reposts, want %d", charged.Load(), events, want)
		}
	})
}

// Attack: a post of a large author takes Redis 0.15 ms for each watched home, and cost their subscribers as much as any other.
func TestPulledEntries_AreChargedForTheirPulls(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		paying, charged := subscribePaying(t, h)
		db.pulled = true
		const events = 2 * cost.EventsPerPoint
		for range events {
			db.push(alice)
		}
		if got := paying.received(); len(got) != events {
			t.Errorf("received %v", got)
		}
		if want := int64(events*(1+cost.EventsPerFeed)/cost.EventsPerPoint + events*cost.PerPull); charged.Load() != want {
			t.Errorf("charged %d points for %d posts of large authors, want %d", charged.Load(), events, want)
		}
	})
}

// subscribePaying subscribes as a user whose budget is never used up. It returns the points charged.
func subscribePaying(t *testing.T, h *Hub) (*reader, *atomic.Int64) {
	t.Helper()
	var charged atomic.Int64
	r := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(points int) error {
		charged.Add(int64(points))
		return nil
	}}, alice, "")
	r.want("caught up 0")
	return r, &charged
}

// Attack: the first subscriptions of a timeline had ended and waited for their turns to leave. They were thought to have paid for its messages.
func TestDelivery_IsChargedToASubscriptionThatHasNotEnded(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]int{"first": 1000, "tail": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHub(newFakeDatabase(), slog.New(slog.DiscardHandler), Options{MaxFirst: first})
			f := &feed{partition: newPartition(t.Context(), h, 0)}
			var charged [3]int
			for i := range charged {
				s := newSubscription(t.Context(), h, &narrowSink{})
				s.charge = func(points int) error {
					charged[i] += points
					return nil
				}
				f.subscribers.add(s, h.options, true)
				if i != 1 { // one before it and one after it has ended
					s.cancel()
				}
			}
			for range cost.EventsPerPoint {
				f.send(&retwis.Advanced{})
			}
			h.wg.Wait()
			if want := [3]int{0, 1 + cost.EventsPerFeed, 0}; charged != want {
				t.Errorf("charged %d points for %d events, want %d", charged, cost.EventsPerPoint, want)
			}
			charged = [3]int{}
			for range cost.EventsPerPoint {
				f.payUnsent()
			}
			if want := [3]int{0, cost.EventsPerFeed, 0}; charged != want {
				t.Errorf("charged %d points for %d entries without an event, want %d", charged, cost.EventsPerPoint, want)
			}
		})
	}
}
