package live

import (
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/retwis"
)

func TestCounts_ReachSubscribersThatAskForThemOnceASecond(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		for range 3 {
			db.push(alice)
		}
		counting := subscribeAs(t, h, retwis.Subscriber{Counts: true}, alice, "")
		ofBob := subscribeAs(t, h, retwis.Subscriber{Counts: true}, bob, "")
		plain := subscribe(t, h, alice, "")
		for _, r := range []*reader{counting, ofBob, plain} {
			r.want("caught up 0")
		}
		for range 5 {
			db.count(1)
			db.count(3)
			db.count(99) // on no timeline
		}
		time.Sleep(countEvery)
		counting.want("#1", "#3")
		at := position(t, alice, counting.cursor)
		db.push(alice)
		counting.want("+4")
		db.count(4)
		db.count(1)
		counting.want() // not yet
		time.Sleep(countEvery)
		counting.want("#1", "#4")
		if now := position(t, alice, counting.cursor); now == at || now.Element.ID != 4 {
			t.Errorf("the event is at %v, want the position of post 4", now)
		}
		time.Sleep(10 * countEvery)
		counting.want()
		plain.want("+4")
		ofBob.want()

		// After a reset, the newest posts are read again.
		db.change(alice, func(all []retwis.Element) []retwis.Element { return all[1:] })
		counting.want("HISTORY_CHANGED")
		db.count(1)
		db.count(2)
		time.Sleep(countEvery)
		counting.want("#2")

		// Only the newest hundred have events.
		for range topLength {
			db.push(bob)
		}
		first := db.push(bob)
		ofBob.want(added(first, topLength+1)...)
		db.count(first - topLength)
		db.count(first - topLength + 1)
		time.Sleep(countEvery)
		ofBob.want(fmt.Sprintf("#%d", first-topLength+1))
	})
}

// A timeline has few events of counts at once. Posts whose counts change all the time take turns.
func TestCounts_OfManyPostsAreSentInTurns(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const posts = 3*maxEvents - 1
		for range posts {
			db.push(alice)
		}
		r := subscribeAs(t, h, retwis.Subscriber{Counts: true}, alice, "")
		r.want("caught up 0")
		count := func() {
			for post := range retwis.PostID(posts) {
				db.count(post + 1)
			}
		}
		seconds := func(n int, after func()) (most int, seen map[string]int) {
			seen = map[string]int{}
			for range n {
				time.Sleep(countEvery)
				events := r.received()
				most = max(most, len(events))
				for _, e := range events {
					seen[e]++
				}
				after()
			}
			return most, seen
		}
		count()
		if most, seen := seconds(3, func() {}); most != maxEvents || len(seen) != posts {
			t.Errorf("%d events at once and %d posts in three seconds, want %d and %d", most, len(seen), maxEvents, posts)
		}
		if most, _ := seconds(1, count); most > 0 {
			t.Errorf("%d events without a change", most)
		}
		if most, seen := seconds(9, count); most != maxEvents || len(seen) != posts {
			t.Errorf("%d events at once and %d posts in nine seconds of changes, want %d and %d", most, len(seen), maxEvents, posts)
		}
	})
}

// added returns the descriptions of the last posts of a number.
func added(last retwis.PostID, n int) []string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf("+%d", int(last)-n+1+i)
	}
	return events
}

func TestCounts_ArePublishedOnlyWhileSomebodyAsks(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour, Linger: time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		online := func() bool {
			db.mu.Lock()
			defer db.mu.Unlock()
			return time.Now().Before(db.online[retwis.PostCounts(0)])
		}
		plain := subscribe(t, h, alice, "")
		plain.want("caught up 0")
		if online() {
			t.Error("the hub asks for counts without a subscriber that receives them")
		}
		for range 2 {
			s := subscribeAs(t, h, retwis.Subscriber{Counts: true}, alice, "")
			s.want("caught up 0")
			if !online() {
				t.Error("the hub does not ask for counts")
			}
			if feeds := h.Stats().Feeds; feeds != 1 {
				t.Errorf("%d timelines have subscribers, want 1", feeds)
			}
			s.close()
			s.want("closed")
			if !online() {
				t.Error("the hub does not linger after the last subscriber left")
			}
		}
		time.Sleep(3 * time.Second)
		if online() {
			t.Error("the hub asks for counts long after the last subscriber left")
		}
	})
}

func TestCounts_AreLostInAnOutage(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		db.push(bob)
		ofBob := subscribeAs(t, h, retwis.Subscriber{Counts: true}, bob, "")
		ofBob.want("caught up 0")
		db.count(2)
		time.Sleep(countEvery)
		ofBob.want("#2")
		r := subscribeAs(t, h, retwis.Subscriber{Counts: true}, alice, "")
		r.want("caught up 0")
		db.fail(true, "Newest")
		db.count(1)
		db.count(2)
		time.Sleep(countEvery)
		r.want()
		ofBob.want("#2") // its newest posts were known
		db.fail(false, "Newest")
		time.Sleep(countEvery)
		r.want()
		db.count(1)
		time.Sleep(countEvery)
		r.want("#1")
	})
}

// Attack: posts that several watched lists showed were sent again and again after one like, for as long as some list had not sent them. They displaced
// the changes of all others.
func TestCounts_OfOneChangeAreSentOnceToEachTimeline(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const timelines, postsOfEach, shownBy = 6, 25, 4
		timeline := func(n int) retwis.TimelineID { return retwis.Home(retwis.UserID(2048 + n)) }
		var readers []*reader
		for n := range timelines {
			readers = append(readers, subscribeAs(t, h, retwis.Subscriber{Counts: true}, timeline(n), ""))
		}
		want := map[string]int{}
		for i := range postsOfEach * timelines {
			var to []retwis.TimelineID
			for n := range shownBy {
				to = append(to, timeline((i/postsOfEach+n)%timelines))
			}
			want[fmt.Sprintf("#%d", db.push(to...))] = shownBy
		}
		for _, r := range readers {
			r.received()
		}
		for post := range retwis.PostID(len(want)) {
			db.count(post + 1)
		}
		time.Sleep(3 * postsOfEach * shownBy / maxEvents * countEvery)
		got := map[string]int{}
		for _, r := range readers {
			for _, e := range r.received() {
				got[e]++
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("posts were sent %v times, want each %d times", got, shownBy)
		}
	})
}

// Attack: ten posts of each of 32 watched timelines were liked every second. Other timelines of the partition waited until all subscribers had all counts.
func TestCounts_LeaveTheLockToOthers(t *testing.T) {
	t.Parallel()
	const timelines, posts, rounds = 8, 4, 100
	db := newFakeDatabase()
	h := NewHub(db, slog.New(slog.DiscardHandler), Options{})
	p := newPartition(t.Context(), h, 0)
	h.partitions[0] = p
	var changed postSet
	var top []retwis.PostID
	for range posts {
		post := db.push(alice)
		changed.add(post)
		top = append(top, post)
	}
	sink := &countsSink{}
	for n := range retwis.UserID(timelines) {
		f := &feed{partition: p, timeline: retwis.Home(n + 1)}
		p.feeds[f.timeline] = f
		for range recipientBatch {
			s := newSubscription(t.Context(), h, sink)
			s.counts = true
			if !f.attach(s, reading{}, true) {
				t.Fatal("not attached")
			}
		}
		f.top, f.topKnown = top, true
	}
	// Another goroutine asks for the lock while the first one receives its count. It may be late, but not in each round.
	inBetween := false
	for round := 0; round < rounds && !inBetween; round++ {
		var asked, had atomic.Bool
		done := make(chan struct{})
		received, events := 0, map[retwis.Event]bool{}
		sink.take = func(e retwis.Event) {
			events[e] = true
			if received++; received == 1 {
				go func() {
					defer close(done)
					asked.Store(true)
					p.mu.Lock()
					defer p.mu.Unlock()
					had.Store(true)
				}()
			}
			for !asked.Load() {
				runtime.Gosched()
			}
			inBetween = had.Load()
		}
		if _, err := h.sendCounts(t.Context(), &changed, round); err != nil {
			t.Fatal(err)
		}
		<-done
		if want := timelines * posts; received != want*recipientBatch || len(events) != want {
			t.Fatalf("%d subscribers received %d counts, want %d and %d that they share", received, len(events), want*recipientBatch, want)
		}
	}
	if !inBetween {
		t.Error("nobody had the lock before all subscribers had all counts")
	}
}

// countsSink is a sink that passes events to a function, if there is one.
type countsSink struct {
	narrowSink

	take func(retwis.Event)
}

func (s *countsSink) Take(e retwis.Event) bool {
	if s.take != nil {
		s.take(e)
	}
	return true
}
