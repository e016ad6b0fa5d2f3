package live

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
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

// Attack: the comparisons of 20 000 watched timelines, each with 900 changes of its partition, took Redis half of its time.
func TestCheck_ANetworkRestsAndOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeDatabase()
		db.readRows = 10_000_000 // the longest rest is due, however many cores there are
		h := NewHub(db, slog.New(slog.DiscardHandler), Options{})
		p := newPartition(t.Context(), h, 0)
		h.partitions[0] = p
		join := func(user retwis.UserID, client ratelimit.Client) *feed {
			f := &feed{partition: p, timeline: retwis.Home(user), positioned: true}
			f.subscribers.add(&subscription{client: client, hub: h, ctx: t.Context()}, h.options, true)
			p.feeds[f.timeline] = f
			return f
		}
		heavy, light := clientOf(0, 1), clientOf(0, 2)
		for n := range retwis.UserID(3) {
			join(n+1, heavy)
		}
		other := join(100, light)
		due := func(when string, client ratelimit.Client, want int) []check {
			t.Helper()
			for _, f := range p.feeds {
				f.checkAt = time.Now()
			}
			of, batch := p.dueForCheck(time.Now())
			if len(batch) != want || of != client {
				t.Errorf("%s: %d timelines of the client %v are compared, want %d of %v", when, len(batch), of, want, client)
			}
			return batch
		}
		other.positioned = false // it is not due
		p.check(t.Context(), heavy, due("first", heavy, 3))
		due("without other networks", heavy, 3)
		h.options.Shares.SetBehind(true) // beside others
		p.check(t.Context(), heavy, due("beside others", heavy, 3))
		due("while the network rests", ratelimit.Client{}, 0)
		other.positioned = true
		due("while the other one does not", light, 1)
		rest := time.Until(p.checks.at)
		if rest <= 0 || rest > time.Second {
			t.Fatalf("the network rests for %v", rest)
		}
		time.Sleep(rest)
		batch := due("after the rest", cost.ForSeveral(), 4)
		db.fail(true, "Compare") // after which all count as compared
		p.check(t.Context(), cost.ForSeveral(), batch)
		due("after a comparison for both", ratelimit.Client{}, 0)
	})
}

// A comparison may take Redis two milliseconds, as few other scripts do.
func TestCheck_WaitsForOtherLongExchanges(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute, CallTimeout: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		subscribe(t, h, alice, "").want("caught up 0")
		const all = 1000 // units, more than anybody may have
		leave, err := cost.Enter(cost.Long(h.options.Shares.Paid(t.Context(), cost.ForSeveral())), all)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if n := db.callCount("Compare"); n != 0 {
			t.Errorf("%d comparisons beside as many long exchanges as a client may have", n)
		}
		leave()
		synctest.Wait()
		if n := db.callCount("Compare"); n == 0 {
			t.Error("no comparison after the other exchanges")
		}
	})
}
