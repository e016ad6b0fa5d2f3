package live

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestReplay_ResumesFromEachOfItsCursors(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		from := db.cursor(alice)
		for range 3 {
			db.push(alice)
		}
		db.remove(1, alice)
		db.remove(3, alice)

		s := subscribe(t, h, alice, from)
		want := map[string][]string{
			"+2":          {"+4", "-1", "-3", "caught up 3"},
			"+4":          {"-1", "-3", "caught up 2"},
			"-1":          {"-3", "caught up 1"},
			"-3":          {"caught up 0"},
			"caught up 4": {"caught up 0"},
		}
		synctest.Wait()
		for range len(want) {
			e := <-s.Events
			subscribe(t, h, alice, e.EventCursor()).want(want[describe(e)]...)
		}
	})
}

func TestReplay_LoadsPostsInBatches(t *testing.T) {
	inBubble(t, Options{QueueLength: 4}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		for range 3 * postBatch {
			want = append(want, "+"+db.push(alice).String())
		}
		r := subscribe(t, h, alice, from)
		r.want(append(want, "caught up 300")...)
		if n := db.callCount("Shown"); n != 3 {
			t.Errorf("%d calls loaded posts, want 3", n)
		}
	})
}

func TestReplay_WaitsForASlowSubscriber(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		for range 200 {
			want = append(want, "+"+db.push(alice).String())
		}
		want = append(want, "caught up 200")
		patient, unlucky := subscribe(t, h, alice, from), subscribe(t, h, alice, from)
		time.Sleep(time.Minute)
		for range 20 {
			want = append(want, "+"+db.push(alice).String())
		}
		synctest.Wait()
		patient.want(want...)

		db.push(alice)
		patient.want("+221")
		if err := unlucky.Err(); !errors.Is(err, retwis.ErrSlowConsumer) {
			t.Errorf("subscription with a full queue behind its replay: %v, want %v", err, retwis.ErrSlowConsumer)
		}
	})
}

func TestReplay_ContinuesAfterAnOutage(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		db.push(alice)
		db.fail(true, "Shown")
		r := subscribe(t, h, alice, from)
		gone := subscribe(t, h, alice, from)
		time.Sleep(20 * time.Second)
		r.want()
		gone.close()
		gone.want("closed")
		db.fail(false, "Shown")
		time.Sleep(10 * time.Second)
		r.want("+1", "caught up 1")
	})
}
