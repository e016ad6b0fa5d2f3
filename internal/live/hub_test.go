package live

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestASubscriptionWithoutACursorBeginsNow(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		w.push(alice)
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")
		w.push(alice, bob)
		w.push(bob)
		w.push(alice)
		r.want("+2", "+4")
	})
}

func TestASubscriptionResumes(t *testing.T) {
	tests := []struct {
		name string
		miss func(w *world) // what happens to alice's home, which has posts 1 to 3, while she is away
		want []string
	}{
		{"with nothing missed", func(*world) {}, []string{"caught up 0"}},
		{"after posts", func(w *world) { w.push(alice); w.push(alice) }, []string{"+4", "+5", "caught up 2"}},
		{"after a deletion", func(w *world) { w.push(alice); w.remove(2, alice) }, []string{"+4", "-2", "caught up 2"}},
		{"after a post came and went", func(w *world) { w.remove(w.push(alice), alice) }, []string{"-4", "caught up 1"}},
		{"after the deletion of the post it stands at", func(w *world) { w.remove(3, alice); w.push(alice) }, []string{"+4", "-3", "caught up 2"}},
		{"after a change", func(w *world) { w.change(alice, without(1)); w.push(alice) }, []string{"HISTORY_CHANGED", "caught up 0"}},
		{"after the entry it stands at was purged", func(w *world) { w.change(alice, without(3)) }, []string{"HISTORY_CHANGED", "caught up 0"}},
		{"after too much", func(w *world) {
			w.capacity = 5
			for range 6 {
				w.push(alice)
			}
		}, []string{"CURSOR_TOO_OLD", "caught up 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
				for range 3 {
					w.push(alice)
				}
				from := w.cursor(alice)
				tt.miss(w)
				r := subscribe(t, h, alice, from)
				r.want(tt.want...)
				if got, want := r.cursor, w.cursor(alice); got != want {
					t.Errorf("caught up at %+v, want %+v", position(t, alice, got), position(t, alice, want))
				}

				n := w.push(alice)
				r.want("+" + n.String())

				again := subscribe(t, h, alice, r.cursor)
				again.want("caught up 0")
			})
		})
	}
}

// without returns a rewrite of a list that takes posts out.
func without(gone ...retwis.PostID) func([]retwis.PostID) []retwis.PostID {
	return func(entries []retwis.PostID) []retwis.PostID {
		var kept []retwis.PostID
		for _, e := range entries {
			if lastIndex(gone, e) < 0 {
				kept = append(kept, e)
			}
		}
		return kept
	}
}

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

func TestAForeignCursorIsRefused(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		for _, after := range []retwis.Cursor{"nonsense", w.cursor(bob)} {
			if _, err := h.Subscribe(t.Context(), alice, after); !errors.Is(err, retwis.ErrBadCursor) {
				t.Errorf("Subscribe after %q: %v, want %v", after, err, retwis.ErrBadCursor)
			}
		}
		if got := h.Stats(); got != (Stats{}) {
			t.Errorf("stats %+v, want none", got)
		}
	})
}

func TestAnEventIsMadeOnceForAFeed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		a, b, c := subscribe(t, h, alice, ""), subscribe(t, h, alice, ""), subscribe(t, h, carol, "")
		for _, r := range []*reader{a, b, c} {
			r.want("caught up 0")
		}
		w.push(alice, carol) // looked up, as the first after each subscription
		for _, r := range []*reader{a, b, c} {
			r.want("+1")
		}
		before := w.called("Posts asked for")
		w.push(alice, carol)
		synctest.Wait()
		atA, atB, atC := (<-a.Events).(*retwis.PostAdded), (<-b.Events).(*retwis.PostAdded), (<-c.Events).(*retwis.PostAdded)
		if atA != atB {
			t.Error("subscribers of one timeline got two events")
		}
		if atA.Edge.Post != atC.Edge.Post {
			t.Error("subscribers of two timelines got two copies of the post")
		}
		if n := w.called("Posts asked for") - before; n != 1 {
			t.Errorf("%d posts were loaded, want 1", n)
		}
	})
}

func TestSubscribeOnlyWorksWhileTheHubRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		h := NewHub(w, slog.New(slog.DiscardHandler), Options{})
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe before Run: %v", err)
		}
		stop := start(t, h)
		idle, behind := subscribe(t, h, alice, ""), subscribe(t, h, alice, "")
		idle.want("caught up 0")
		for range 3 * channelLength {
			w.push(alice)
		}
		synctest.Wait()
		stop()
		if err := idle.Err(); err != nil {
			t.Errorf("the subscription was ended by %v, want nil", err)
		}
		for range behind.Events { // until it is closed
		}
		if err := behind.Err(); err != nil {
			t.Errorf("the subscription of the slow reader was ended by %v, want nil", err)
		}
		if _, err := h.Subscribe(t.Context(), alice, ""); !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe after Run: %v", err)
		}
		if err := h.Run(t.Context()); err == nil {
			t.Error("Run ran a second time")
		}
		if got := w.present(); len(got) > 0 {
			t.Errorf("%v are still present", got)
		}
	})
}

func TestStoppingTheHubEndsASubscribeUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fail(true, "Enter")
		h := NewHub(w, slog.New(slog.DiscardHandler), Options{})
		stop := start(t, h)
		failed := make(chan error)
		go func() {
			_, err := h.Subscribe(t.Context(), alice, "")
			failed <- err
		}()
		synctest.Wait()
		stop()
		if err := <-failed; !errors.Is(err, errNotRunning) {
			t.Errorf("Subscribe: %v, want %v", err, errNotRunning)
		}
	})
}

func TestSubscribeGivesUp(t *testing.T) {
	for _, call := range []string{"Enter", "Listen", "Now"} {
		t.Run("when "+call+" fails", func(t *testing.T) {
			inBubble(t, Options{Linger: time.Second}, func(t *testing.T, w *world, h *Hub) {
				w.fail(true, call)
				if _, err := h.Subscribe(t.Context(), alice, ""); err == nil {
					t.Error("Subscribe succeeded")
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := h.Subscribe(ctx, alice, ""); !errors.Is(err, context.Canceled) {
					t.Errorf("Subscribe: %v, want %v", err, context.Canceled)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := h.Stats(); got.Feeds != 0 || got.Subscribers != 0 {
					t.Errorf("stats %+v, want no feed and no subscriber", got)
				}

				w.fail(false, call)
				subscribe(t, h, alice, "").want("caught up 0")
			})
		})
	}
}

func TestReadyWhenEveryChannelInUseIsSubscribed(t *testing.T) {
	inBubble(t, Options{Linger: time.Second}, func(t *testing.T, w *world, h *Hub) {
		if err := h.Ready(); err != nil {
			t.Errorf("without a subscriber: %v", err)
		}
		r := subscribe(t, h, alice, "")
		if err := h.Ready(); err != nil {
			t.Errorf("with a subscriber: %v", err)
		}
		w.fail(true, "Listen")
		w.cut(w.PartitionOf(alice), false)
		synctest.Wait()
		if err := h.Ready(); err == nil {
			t.Error("ready without a channel")
		}
		w.fail(false, "Listen")
		time.Sleep(5 * time.Second)
		if err := h.Ready(); err != nil {
			t.Errorf("with the channel again: %v", err)
		}
		r.close()
	})
}
