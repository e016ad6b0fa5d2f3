package live

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Attack: a repost that a timeline may already show makes each of its feeds read the timeline, which was charged to nobody. A user with
// 1000 watched lists had 50 times the work done that the repost cost.
func TestCatchUp_ThatAMessageAskedForIsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
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
		time.Sleep(5 * time.Minute)
		if poor.Load()+rich.Load() != 0 {
			t.Errorf("charged %d and %d points for regular checks", poor.Load(), rich.Load())
		}
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

// Attack: 10 000 subscriptions of a client, or subscriptions whose filters nothing passes, made each post of anybody cost 20 to 40
// milliseconds that nobody paid.
func TestDelivery_IsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		refused := errors.New("no budget")
		var charged atomic.Int64
		budget := int64(2)
		poor := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(points int) error {
			if charged.Add(int64(points)) > budget {
				return refused
			}
			return nil
		}}, alice, "")
		other := subscribe(t, h, alice, "")
		poor.want("caught up 0")
		other.want("caught up 0")
		var got, all []string
		for range 4 * cost.EventsPerPoint {
			db.push(alice)
			all = append(all, other.received()...)
			if !slices.Contains(got, "closed") {
				got = append(got, poor.received()...)
			}
		}
		if len(all) != 4*cost.EventsPerPoint {
			t.Errorf("another subscriber received %d events", len(all))
		}
		if charged.Load() != 3 || len(got) != 3*cost.EventsPerPoint+1 || !errors.Is(poor.Err(), refused) {
			t.Errorf("charged %d points for %d events; ended with %v", charged.Load(), len(got), poor.Err())
		}
		again := subscribe(t, h, alice, poor.cursor)
		again.want("+16", "+17", "+18", "+19", "+20", "caught up 5")
	})
}
