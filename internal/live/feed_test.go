package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

func TestAFeedFollowsItsList(t *testing.T) {
	at := func(w *world) int { return w.PartitionOf(alice) }
	pushed := func(post, before retwis.PostID) pubsub.Message {
		return pubsub.Message{
			Kind: pubsub.Pushed, Post: post, Recipients: []pubsub.Recipient{{Timeline: alice, Before: before}},
		}
	}
	removed := func(post retwis.PostID) pubsub.Message {
		return pubsub.Message{Kind: pubsub.Removed, Post: post, Recipients: []pubsub.Recipient{{Timeline: alice}}}
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

// A profile loses a deleted post, so nothing but the removal says that it was there.
func TestAPostDeletedWhileItWasLoaded(t *testing.T) {
	inBubble(t, Options{CheckEvery: 4 * time.Second, CallTimeout: time.Minute}, func(t *testing.T, w *world, h *Hub) {
		w.push(diary)
		r := subscribe(t, h, diary, "")
		w.push(diary)
		r.want("caught up 0", "+2")
		release := w.hold("posts")
		w.push(diary)
		synctest.Wait()
		w.remove(3, diary)
		time.Sleep(10 * time.Second) // the feed compares itself with the list
		r.want("-3")
		release()
		r.want()
		w.push(diary)
		r.want("+4")
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
		release := w.hold("timelines")
		w.push(alice) // the feed reads; the answer has 3 and 4
		synctest.Wait()
		w.push(alice)
		w.remove(4, alice)
		r.want()
		before := w.called("Since")
		release()
		r.want("+3", "+4", "+5", "-4")
		if n := w.called("Since") - before; n != 0 {
			t.Errorf("the list was read %d times again, want none", n)
		}

		w.lose(w.PartitionOf(alice), 1)
		w.push(alice)
		release = w.hold("timelines")
		w.push(alice)
		synctest.Wait()
		want := []string{"+6", "+7"}
		for range heldLength + 10 { // too many to hold back
			want = append(want, "+"+w.push(alice).String())
		}
		synctest.Wait()
		release()
		r.want(want...)
	})
}
