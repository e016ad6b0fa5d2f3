package live

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestListen_ContinuesForLingerAfterTheLastSubscriber(t *testing.T) {
	inBubble(t, Options{Linger: 30 * time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		listens := func() int {
			db.mu.Lock()
			defer db.mu.Unlock()
			return db.listens[db.PartitionOf(alice)]
		}
		subscribe(t, h, alice, "").close()
		time.Sleep(29 * time.Second)
		r := subscribe(t, h, alice, "")
		time.Sleep(2 * time.Minute)
		if n, calls := listens(), db.callCount("Listen"); n != 1 || calls != 1 {
			t.Errorf("%d subscriptions after %d calls, want 1 after 1", n, calls)
		}
		r.close()
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := listens(); n != 0 {
			t.Errorf("%d subscriptions without a subscriber, want none", n)
		}
		r = subscribe(t, h, alice, "")
		db.push(alice)
		r.want("caught up 0", "+1")
	})
}

func TestListen_RetriesUntilItSucceeds(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribe(t, h, alice, "")
		db.fail(true, "Listen")
		db.disconnect(db.PartitionOf(alice), false)
		time.Sleep(3 * time.Minute)
		db.push(alice)
		r.want("caught up 0")
		db.fail(false, "Listen")
		time.Sleep(10 * time.Second)
		r.want("+1")
	})
}
