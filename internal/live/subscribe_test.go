package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestAnErrorOfTheSourceIsPassedOn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, w *world, h *Hub) {
		w.fail(true, "Since")
		_, err := h.Subscribe(t.Context(), alice, w.cursor(alice))
		if !errors.Is(err, errOutage) {
			t.Errorf("Subscribe: %v, want %v", err, errOutage)
		}
		if want := fmt.Sprintf("subscribe to timeline %s: %v", alice, errOutage); err.Error() != want {
			t.Errorf("Subscribe: %q, want %q", err, want)
		}
	})
}

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
