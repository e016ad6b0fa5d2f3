package live

import (
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

// A partition with thousands of removals resets the feeds that have not seen them, without reading the removals for each.
func TestCheck_ResetsAFeedThatIsFarBehind(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")
		db.mu.Lock()
		db.behind = map[retwis.TimelineID]bool{alice: true}
		db.mu.Unlock()
		before := db.callCount("Since")
		time.Sleep(2 * time.Minute)
		db.mu.Lock()
		db.behind = nil
		db.mu.Unlock()
		synctest.Wait()
		if got := r.received(); len(got) == 0 || got[0] != "CURSOR_TOO_OLD" {
			t.Errorf("received %v, want a reset", got)
		}
		if n := db.callCount("Since") - before; n != 0 {
			t.Errorf("the events were read %d times", n)
		}
		db.push(alice)
		r.want("+2")
	})
}

func TestCheck_ReadsEachFeedIfComparingFails(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")
		db.fail(true, "Compare")
		db.lose(db.PartitionOf(alice), 1)
		db.push(alice)
		time.Sleep(2 * time.Minute)
		r.want("+1")
		db.fail(false, "Compare")
		db.lose(db.PartitionOf(alice), 1)
		db.push(alice)
		time.Sleep(2 * time.Minute)
		r.want("+2")
	})
}

// Thousands of idle feeds take few calls.
func TestCheck_ComparesManyFeedsWithOneCall(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const feeds = 4 * checkBatch
		for n := range retwis.UserID(feeds) {
			subscribe(t, h, retwis.Home((n+1)*1024), "").want("caught up 0")
		}
		compared, read := db.callCount("Compare"), db.callCount("Since")
		const minutes = 20
		time.Sleep(minutes * time.Minute)
		if n := db.callCount("Since") - read; n != 0 {
			t.Errorf("unchanged timelines were read %d times", n)
		}
		// Most calls compare as many feeds as are due in a round; the fake compares half of those that it is asked for.
		if n := db.callCount("Compare") - compared; n > minutes*feeds/4 {
			t.Errorf("%d calls for %d checks", n, minutes*feeds)
		}
	})
}
