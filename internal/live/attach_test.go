package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestJoiningAFeed(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, w *world, h *Hub, first *reader)
	}{
		{"that is where the list is", func(t *testing.T, w *world, h *Hub, first *reader) {
			from := w.cursor(alice)
			w.push(alice)
			first.want("+3")
			subscribe(t, h, alice, from).want("+3", "caught up 1")
			subscribe(t, h, alice, "").want("caught up 0")
		}},
		{"that is behind the list, from where it stands", func(t *testing.T, w *world, h *Hub, first *reader) {
			from := w.cursor(alice)
			w.lose(w.PartitionOf(alice), 2)
			w.push(alice)
			w.push(alice)
			second := subscribe(t, h, alice, from)
			second.want("caught up 0")
			w.push(alice)
			second.want("+3", "+4", "+5")
			first.want("+3", "+4", "+5")
		}},
		{"that is behind the list, from further back", func(t *testing.T, w *world, h *Hub, first *reader) {
			from := w.cursor(alice)
			w.push(alice)
			first.want("+3")
			w.lose(w.PartitionOf(alice), 1)
			w.push(alice)
			second := subscribe(t, h, alice, from)
			second.want("+3", "caught up 1")
			w.push(alice)
			second.want("+4", "+5")
			first.want("+4", "+5")
		}},
		{"that is behind the cursor", func(t *testing.T, w *world, h *Hub, first *reader) {
			w.lose(w.PartitionOf(alice), 1)
			w.push(alice)
			second := subscribe(t, h, alice, w.cursor(alice))
			second.want("caught up 0")
			first.want("+3") // read so that the two meet
			w.push(alice)
			second.want("+4")
			first.want("+4")
		}},
		{"that is behind, from now on", func(t *testing.T, w *world, h *Hub, first *reader) {
			w.lose(w.PartitionOf(alice), 1)
			w.push(alice)
			second := subscribe(t, h, alice, "")
			second.want("caught up 0")
			first.want("+3")
		}},
		{"of an older generation", func(t *testing.T, w *world, h *Hub, first *reader) {
			from := w.cursor(alice)
			w.lose(w.PartitionOf(alice), 1)
			w.change(alice, without(1))
			subscribe(t, h, alice, from).want("HISTORY_CHANGED", "caught up 0")
			subscribe(t, h, alice, w.cursor(alice)).want("caught up 0")
			first.want("HISTORY_CHANGED")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
				w.push(alice)
				first := subscribe(t, h, alice, "")
				w.push(alice)
				first.want("caught up 0", "+2")
				tt.do(t, w, h, first)
			})
		})
	}
}

// While a subscriber's read is on its way back the feed goes on.
func TestJoiningAFeedThatMoves(t *testing.T) {
	tests := []struct {
		name      string
		meanwhile func(w *world)
		want      []string
	}{
		{"by a post", func(w *world) { w.push(alice) }, []string{"+2", "+3", "caught up 2"}},
		{"by a deletion", func(w *world) { w.remove(1, alice) }, []string{"+2", "caught up 1", "-1"}},
		{"by the deletion of what is replayed", func(w *world) { w.remove(2, alice) }, []string{"caught up 0", "-2"}},
		{"by more than it remembers", func(w *world) {
			for range recentLength + 10 {
				w.push(alice)
				synctest.Wait()
			}
			for n := range retwis.PostID(removedLength + 10) {
				w.remove(n+2, alice)
				synctest.Wait()
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
				w.push(alice)
				from := w.cursor(alice)
				first := subscribe(t, h, alice, "")
				w.push(alice)
				first.want("caught up 0", "+2")

				release := w.hold("timelines")
				joined := make(chan *reader)
				go func() { joined <- subscribe(t, h, alice, from) }()
				synctest.Wait()
				tt.meanwhile(w)
				synctest.Wait()
				release()
				second := <-joined
				if tt.want != nil {
					second.want(tt.want...)
					return
				}
				var want []string
				for id := retwis.PostID(removedLength + 12); id <= w.lastPost; id++ {
					want = append(want, "+"+id.String())
				}
				for n := range retwis.PostID(removedLength + 10) {
					want = append(want, "-"+(n+2).String())
				}
				second.want(append(want, fmt.Sprintf("caught up %d", len(want)))...)
			})
		})
	}
}

// A reset spares the subscribers the removals before it, but not one who has read before.
func TestJoiningAFeedThatWasReset(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		w.push(alice)
		first := subscribe(t, h, alice, "")
		first.want("caught up 0")
		w.capacity = 1
		w.lose(w.PartitionOf(alice), 3)
		w.push(alice)
		w.push(alice)

		release := w.hold("timelines")
		joined := make(chan *reader)
		go func() { joined <- subscribe(t, h, alice, w.cursor(alice)) }()
		synctest.Wait()
		w.pass()
		w.remove(3, alice)
		w.cut(w.PartitionOf(alice), false)
		first.want("CURSOR_TOO_OLD")
		release()
		second := <-joined
		second.want("-3", "caught up 1")
		w.capacity = 10
		w.push(alice)
		first.want("+4")
		second.want("+4")
	})
}

// Where a reset sends a subscriber is not before the place it had.
func TestAResetOfOneWhoIsAheadOfTheFeed(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		first := subscribe(t, h, alice, "")
		w.push(alice)
		first.want("caught up 0", "+1")
		w.lose(w.PartitionOf(alice), 4)
		w.push(alice)
		from := w.cursor(alice)
		w.capacity = 2
		for range 3 {
			w.push(alice)
		}
		second := subscribe(t, h, alice, from)
		second.want("CURSOR_TOO_OLD", "caught up 0")
		first.want("CURSOR_TOO_OLD")
		w.push(alice)
		first.want("+6")
		second.want("+6")
	})
}

func TestAListThatMovesTooFastIsGivenUp(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		w.push(alice)
		from := w.cursor(alice)
		first := subscribe(t, h, alice, "")
		first.want("caught up 0")
		change := func() { w.changed(alice, func(e []retwis.PostID) []retwis.PostID { return e }) }
		w.lose(w.PartitionOf(alice), 1000)
		change()
		w.whenRead = change // every answer is outdated when it comes
		subscribe(t, h, alice, from).want("HISTORY_CHANGED", "caught up 0")
		subscribe(t, h, alice, "").want("caught up 0")
	})
}
