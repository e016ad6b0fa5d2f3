package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestSubscribe_ReturnsTheErrorOfTheSource(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.fail(true, "Since")
		_, err := h.Subscribe(t.Context(), alice, db.cursor(alice))
		if !errors.Is(err, errOutage) {
			t.Errorf("Subscribe: %v, want %v", err, errOutage)
		}
		if want := fmt.Sprintf("subscribe to timeline %s: %v", alice, errOutage); err.Error() != want {
			t.Errorf("Subscribe: %q, want %q", err, want)
		}
	})
}

func TestSubscribe_WithoutCursorBeginsNow(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		r := subscribe(t, h, alice, "")
		r.want("caught up 0")
		db.push(alice, bob)
		db.push(bob)
		db.push(alice)
		r.want("+2", "+4")
	})
}

func TestSubscribe_ResumesFromACursor(t *testing.T) {
	tests := []struct {
		name string
		miss func(db *fakeDatabase) // changes alice's home, which holds posts 1 to 3, while she is disconnected
		want []string
	}{
		{"no events missed", func(*fakeDatabase) {}, []string{"caught up 0"}},
		{"posts missed", func(db *fakeDatabase) { db.push(alice); db.push(alice) }, []string{"+4", "+5", "caught up 2"}},
		{"deletion missed", func(db *fakeDatabase) { db.push(alice); db.remove(2, alice) }, []string{"+4", "-2", "caught up 2"}},
		{"post created and deleted", func(db *fakeDatabase) { db.remove(db.push(alice), alice) }, []string{"-4", "caught up 1"}},
		{"post of the cursor deleted", func(db *fakeDatabase) { db.remove(3, alice); db.push(alice) }, []string{"+4", "-3", "caught up 2"}},
		{"epoch changed", func(db *fakeDatabase) { db.change(alice, without(1)); db.push(alice) }, []string{"HISTORY_CHANGED", "caught up 0"}},
		{"post of the cursor purged", func(db *fakeDatabase) { db.change(alice, without(3)) }, []string{"HISTORY_CHANGED", "caught up 0"}},
		{"more posts missed than the list holds", func(db *fakeDatabase) {
			db.capacity = 5
			for range 6 {
				db.push(alice)
			}
		}, []string{"CURSOR_TOO_OLD", "caught up 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
				for range 3 {
					db.push(alice)
				}
				from := db.cursor(alice)
				tt.miss(db)
				r := subscribe(t, h, alice, from)
				r.want(tt.want...)
				if got, want := r.cursor, db.cursor(alice); got != want {
					t.Errorf("caught up at %+v, want %+v", position(t, alice, got), position(t, alice, want))
				}

				n := db.push(alice)
				r.want("+" + n.String())

				again := subscribe(t, h, alice, r.cursor)
				again.want("caught up 0")
			})
		})
	}
}

// without returns a rewrite of a list that takes posts out.
func without(gone ...retwis.PostID) func([]retwis.Element) []retwis.Element {
	return func(entries []retwis.Element) []retwis.Element {
		var kept []retwis.Element
		for _, e := range entries {
			if !slices.Contains(gone, e.ID) {
				kept = append(kept, e)
			}
		}
		return kept
	}
}

func TestSubscribe_RejectsCursorsOfOtherTimelines(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		for _, after := range []retwis.Cursor{"nonsense", db.cursor(bob)} {
			if _, err := h.Subscribe(t.Context(), alice, after); !errors.Is(err, retwis.ErrBadCursor) {
				t.Errorf("Subscribe after %q: %v, want %v", after, err, retwis.ErrBadCursor)
			}
		}
		if got := h.Stats(); got != (Stats{}) {
			t.Errorf("stats %+v, want none", got)
		}
	})
}

func TestSubscribe_TimesOut(t *testing.T) {
	for _, call := range []string{"Enter", "Listen", "Now"} {
		t.Run("when "+call+" fails", func(t *testing.T) {
			inBubble(t, Options{Linger: time.Second}, func(t *testing.T, db *fakeDatabase, h *Hub) {
				db.fail(true, call)
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

				db.fail(false, call)
				subscribe(t, h, alice, "").want("caught up 0")
			})
		})
	}
}
