package live

import (
	"errors"
	"testing"
	"time"

	"retwis/internal/retwis"
)

// Attack: a repost that a timeline may already show makes each of its feeds read the timeline, which was charged to nobody. A user with
// 1000 watched lists had 50 times the work done that the repost cost.
func TestCatchUp_ThatAMessageAskedForIsCharged(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		refused := errors.New("no budget")
		var charged [2]int
		budget := 2 * readRows / 10
		first := subscribeAs(t, h, retwis.Subscriber{User: 7, Charge: func(points int) error {
			if charged[0] += points; charged[0] > budget {
				return refused
			}
			return nil
		}}, alice, "")
		second := subscribeAs(t, h, retwis.Subscriber{User: 8, Charge: func(points int) error { charged[1] += points; return nil }}, alice, "")
		first.want("caught up 0")
		second.want("caught up 0")

		change := func() { db.raiseFilter(9, alice) }
		time.Sleep(5 * time.Minute)
		if charged != [2]int{} {
			t.Errorf("charged %v for regular checks", charged)
		}
		for range 3 {
			change()
			time.Sleep(time.Second)
		}
		if want := [2]int{3 * readRows / 10, 0}; charged != want {
			t.Errorf("charged %v points for three changes, want %v", charged, want)
		}
		first.want("closed")
		if err := first.Err(); !errors.Is(err, refused) {
			t.Errorf("the subscription without budget ended with %v", err)
		}
		change()
		time.Sleep(time.Second)
		if charged[1] != readRows/10 {
			t.Errorf("charged the next subscriber %d points, want %d", charged[1], readRows/10)
		}
		db.push(alice)
		second.want("+1")
	})
}
