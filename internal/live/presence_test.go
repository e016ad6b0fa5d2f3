package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPresence_LastsWhileTimelinesHaveSubscribers(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		first, second := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		other := subscribe(t, h, bob, "")
		for _, step := range []struct {
			do   func()
			want []string
		}{
			{func() {}, []string{"h1024@0", "h1025@1"}},
			{func() { time.Sleep(5 * time.Minute) }, []string{"h1024@0", "h1025@1"}},
			{first.close, []string{"h1024@0", "h1025@1"}},
			{second.close, []string{"h1025@1"}},
			{other.close, nil},
		} {
			step.do()
			synctest.Wait()
			if diff := cmp.Diff(step.want, db.present()); diff != "" {
				t.Errorf("present (-want +got):\n%s", diff)
			}
		}
	})
}

func TestPresence_IsRegisteredInBatches(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const subscribers = 2*presenceBatch + presenceBatch/2
		db.latency = time.Millisecond // so that entries accumulate
		for n := range retwis.UserID(subscribers) {
			go func() { _, _ = h.Subscribe(t.Context(), retwis.Home((n+1)*1024), "") }()
		}
		time.Sleep(time.Second)
		if n := len(db.present()); n != subscribers {
			t.Errorf("presence of %d timelines, want %d", n, subscribers)
		}
		if n := db.callCount("longest Enter"); n > presenceBatch {
			t.Errorf("a call registered %d timelines, want at most %d", n, presenceBatch)
		}
		before := db.callCount("Enter")
		time.Sleep(14 * time.Second)
		if n := db.callCount("Enter") - before; n != 3 {
			t.Errorf("%d calls refreshed presence, want 3", n)
		}
	})
}

// Attack: all partitions refreshed the presence of thousands of feeds at the same moment, with scripts of 2 ms each.
func TestPresence_IsRefreshedByFewCallsAtOnce(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const partitions = 8
		db.partitions, db.latency = partitions, 100*time.Millisecond
		for n := range retwis.UserID(partitions * presenceBatch) {
			go func() { _, _ = h.Subscribe(t.Context(), retwis.Home((n+1)*1024+n%partitions), "") }()
		}
		time.Sleep(9 * time.Second)
		if n := len(db.present()); n != partitions*presenceBatch {
			t.Errorf("presence of %d timelines, want %d", n, partitions*presenceBatch)
		}
		before := db.callCount("Enter")
		time.Sleep(2 * time.Second)
		if n := db.callCount("Enter") - before; n != partitions {
			t.Errorf("%d calls refreshed presence, want %d", n, partitions)
		}
		if n := db.callCount("most Enter at once"); n != presenceCalls {
			t.Errorf("%d calls registered presence at once, want %d", n, presenceCalls)
		}
	})
}

func TestPresence_FollowsTheLastOfManyJoinsAndLeaves(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.latency = 10 * time.Millisecond
		for n := range 50 {
			r := subscribe(t, h, alice, "")
			time.Sleep(time.Duration(n%12) * time.Millisecond)
			r.close()
			time.Sleep(time.Duration(n%5) * time.Millisecond)
		}
		r := subscribe(t, h, alice, "")
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"h1024@0"}, db.present()); diff != "" {
			t.Errorf("present (-want +got):\n%s", diff)
		}
		db.push(alice)
		time.Sleep(time.Second)
		r.want("caught up 0", "+1")
	})
}

func TestPresence_LapseMakesFeedsCatchUp(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second, CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")

		db.fail(true, "Enter")
		time.Sleep(12 * time.Second) // one refresh fails
		db.fail(false, "Enter")
		time.Sleep(10 * time.Second)
		if n := h.Stats().CatchUps; n != 0 {
			t.Errorf("%d catch-ups while presence lasted, want none", n)
		}

		db.fail(true, "Enter", "Leave")
		time.Sleep(time.Minute)
		db.push(alice)
		r.want()
		db.fail(false, "Enter")
		time.Sleep(10 * time.Second)
		r.want("+1")
	})
}

// A failover, or a step of the clock of the database, ends presence that the hub refreshed in time.
func TestPresence_LossMakesFeedsCatchUp(t *testing.T) {
	inBubble(t, Options{PresenceTTL: 30 * time.Second, CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")
		if err := db.SetOffline(t.Context(), h.options.Node, []retwis.TimelineID{alice}); err != nil {
			t.Fatal(err)
		}
		db.push(alice)
		r.want()
		time.Sleep(11 * time.Second)
		r.want("+1")
		time.Sleep(time.Minute)
		if n := h.Stats().CatchUps; n != 1 {
			t.Errorf("%d catch-ups, want 1", n)
		}
	})
}
