package live

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestEveryCursorOfAReplayCanBeResumedFrom(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		w.push(alice)
		from := w.cursor(alice)
		for range 3 {
			w.push(alice)
		}
		w.remove(1, alice)
		w.remove(3, alice)

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

func TestALongReplayIsLoadedInBatches(t *testing.T) {
	inBubble(t, Options{QueueLength: 4}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		var want []string
		for range 3 * postBatch {
			want = append(want, "+"+w.push(alice).String())
		}
		r := subscribe(t, h, alice, from)
		r.want(append(want, "caught up 300")...)
		if n := w.called("Posts"); n != 3 {
			t.Errorf("%d calls for posts, want 3", n)
		}
	})
}

func TestAReplayWaitsForItsReader(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		var want []string
		for range 200 {
			want = append(want, "+"+w.push(alice).String())
		}
		want = append(want, "caught up 200")
		patient, unlucky := subscribe(t, h, alice, from), subscribe(t, h, alice, from)
		time.Sleep(time.Minute)
		for range 20 {
			want = append(want, "+"+w.push(alice).String())
		}
		synctest.Wait()
		patient.want(want...)

		w.push(alice)
		patient.want("+221")
		if err := unlucky.Err(); !errors.Is(err, retwis.ErrSlowConsumer) {
			t.Errorf("what waits behind a replay is not bounded: %v", err)
		}
	})
}

func TestAReplayOutlastsAnOutage(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(alice)
		w.push(alice)
		w.fail(true, "Posts")
		r := subscribe(t, h, alice, from)
		gone := subscribe(t, h, alice, from)
		time.Sleep(20 * time.Second)
		r.want()
		gone.close()
		gone.want("closed")
		w.fail(false, "Posts")
		time.Sleep(10 * time.Second)
		r.want("+1", "caught up 1")
	})
}
