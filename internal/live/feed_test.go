package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestAFeedFollowsItsList(t *testing.T) {
	at := func(w *world) int { return w.PartitionOf(alice) }
	pushed := func(post, before retwis.PostID) retwis.LiveMessage {
		return retwis.LiveMessage{
			Kind: retwis.LivePushed, Post: post, Recipients: []retwis.Recipient{{Timeline: alice, Before: before}},
		}
	}
	removed := func(post retwis.PostID) retwis.LiveMessage {
		return retwis.LiveMessage{Kind: retwis.LiveRemoved, Post: post, Recipients: []retwis.Recipient{{Timeline: alice}}}
	}
	tests := []struct {
		name  string
		then  func(w *world) // alice has been told of the posts 1 and 2
		want  []string
		reads int      // of the list; -1 any number
		again []string // what who resumes is told again
	}{
		{"a push is passed on", func(w *world) { w.push(alice) }, []string{"+3"}, 0, nil},
		{"a message that comes again is ignored", func(w *world) {
			w.push(alice)
			w.send(at(w), pushed(2, 1))
			w.send(at(w), pushed(3, 2))
		}, []string{"+3"}, 0, nil},
		{"a lost message is read from the list", func(w *world) {
			w.lose(at(w), 2)
			w.push(alice)
			w.push(alice)
			w.push(alice)
		}, []string{"+3", "+4", "+5"}, 1, nil},
		{"a message that follows from nothing changes nothing", func(w *world) {
			w.send(at(w), pushed(90, 89))
			synctest.Wait()
			w.push(alice)
		}, []string{"+3"}, 1, nil},
		{"a post deleted at once is skipped", func(w *world) {
			w.remove(w.push(alice), alice)
			w.push(alice)
		}, []string{"-3", "+4"}, 0, []string{"-3"}},
		{"a deletion is told", func(w *world) { w.remove(1, alice) }, []string{"-1"}, 0, []string{"-1"}},
		{"a deletion is told once", func(w *world) {
			w.remove(1, alice)
			w.send(at(w), removed(1))
		}, []string{"-1"}, 0, []string{"-1"}},
		{"a change resets", func(w *world) { w.change(alice, without(1)) }, []string{"HISTORY_CHANGED"}, 1, nil},
		{"a purge of the head resets", func(w *world) {
			w.change(alice, without(2))
			synctest.Wait()
			w.push(alice)
		}, []string{"HISTORY_CHANGED", "+3"}, 2, nil},
		{"more lost than is held resets", func(w *world) {
			w.capacity = 2
			w.lose(at(w), 2)
			for range 4 {
				w.push(alice)
			}
			synctest.Wait()
			w.push(alice)
		}, []string{"CURSOR_TOO_OLD", "+7"}, 2, nil},
		{"a connection made again makes the feed read", func(w *world) {
			w.cut(at(w), false)
			w.push(alice)
			w.remove(2, alice)
			w.push(alice)
		}, []string{"+3", "+4", "-2"}, 1, nil},
		{"late messages of the old connection are known", func(w *world) {
			w.push(alice)
			w.remove(1, alice)
			w.cut(at(w), true)
		}, []string{"+3", "-1"}, 1, nil},
		{"posts that cannot be loaded are read later", func(w *world) {
			w.fail(true, "Posts")
			w.push(alice)
			time.Sleep(time.Second)
			w.push(alice)
			w.fail(false, "Posts")
			time.Sleep(10 * time.Second)
		}, []string{"+3", "+4"}, -1, nil},
		{"a list that cannot be read is read later", func(w *world) {
			w.fail(true, "Since")
			w.lose(at(w), 1)
			w.push(alice)
			w.push(alice)
			time.Sleep(3 * time.Second)
			w.remove(1, alice)
			w.fail(false, "Since")
			time.Sleep(10 * time.Second)
		}, []string{"+3", "+4", "-1"}, -1, nil},
		{"a stale push onto a head that is there again is not believed", func(w *world) {
			w.lose(at(w), 1) // the message of post 3
			w.push(alice)
			w.change(alice, without(3))
			synctest.Wait()
			w.send(at(w), pushed(3, 2))
			w.push(alice)
		}, []string{"HISTORY_CHANGED", "+4"}, -1, nil},
		{"the clock finds what nothing told", func(w *world) {
			w.lose(at(w), 4)
			w.push(alice)
			w.remove(2, alice)
			time.Sleep(2 * time.Minute)
		}, []string{"+3", "-2"}, -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, w *world, h *Hub) {
				w.push(alice)
				r := subscribe(t, h, alice, "")
				w.push(alice)
				r.want("caught up 0", "+2")
				before := w.called("Since")
				tt.then(w)
				synctest.Wait()
				if n := w.called("Since") - before; tt.reads >= 0 && n != tt.reads {
					t.Errorf("the list was read %d times, want %d", n, tt.reads)
				}
				r.want(tt.want...)

				// Removals that came by message are told again, until the list was read.
				subscribe(t, h, alice, r.cursor).want(append(tt.again, fmt.Sprintf("caught up %d", len(tt.again)))...)
			})
		})
	}
}

func TestADeletedHeadOfAProfile(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, w *world, h *Hub) {
		from := w.cursor(diary)
		for range 3 {
			w.push(diary)
		}
		r := subscribe(t, h, diary, from)
		r.want("+1", "+2", "+3", "caught up 3")
		w.remove(3, diary)
		w.push(diary)
		r.want("-3", "+4")
		w.remove(4, diary)
		time.Sleep(2 * time.Minute) // the feed finds 2 at the head
		r.want("-4")
		s := subscribe(t, h, diary, from)
		s.want("+1", "+2", "-3", "-4", "caught up 4")
		w.push(diary)
		r.want("+5")
		s.want("+5")
	})
}

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

				w.holdReplies(true)
				joined := make(chan *reader)
				go func() { joined <- subscribe(t, h, alice, from) }()
				synctest.Wait()
				tt.meanwhile(w)
				synctest.Wait()
				w.holdReplies(false)
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

func TestABusyFeedHoldsMessagesBack(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, w *world, h *Hub) {
		w.push(alice)
		r := subscribe(t, h, alice, "")
		w.push(alice)
		r.want("caught up 0", "+2")

		w.lose(w.PartitionOf(alice), 1)
		w.push(alice)
		w.holdReplies(true)
		w.push(alice) // the feed reads; the answer has 3 and 4
		synctest.Wait()
		w.push(alice)
		w.remove(4, alice)
		r.want()
		before := w.called("Since")
		w.holdReplies(false)
		r.want("+3", "+4", "+5", "-4")
		if n := w.called("Since") - before; n != 0 {
			t.Errorf("the list was read %d times again, want none", n)
		}

		w.lose(w.PartitionOf(alice), 1)
		w.push(alice)
		w.holdReplies(true)
		w.push(alice)
		synctest.Wait()
		want := []string{"+6", "+7"}
		for range heldLength + 10 { // too many to hold back
			want = append(want, "+"+w.push(alice).String())
		}
		synctest.Wait()
		w.holdReplies(false)
		r.want(want...)
	})
}
