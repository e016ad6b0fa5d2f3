package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

func TestFeed_SendsTheEventsOfItsList(t *testing.T) {
	at := func(db *fakeDatabase) int { return db.PartitionOf(alice) }
	pushed := func(post, before retwis.PostID) pubsub.Message {
		return pubsub.Message{
			Kind: pubsub.Pushed, Element: retwis.Plain(post), Recipients: []pubsub.Recipient{{Timeline: alice, Before: before}},
		}
	}
	removed := func(post retwis.PostID) pubsub.Message {
		return pubsub.Message{Kind: pubsub.Removed, Post: post, Recipients: []pubsub.Recipient{{Timeline: alice}}}
	}
	tests := []struct {
		name  string
		then  func(db *fakeDatabase) // the subscriber has received posts 1 and 2
		want  []string
		reads int      // reads of the list; -1 for any number
		again []string // events that a resuming subscriber receives again
	}{
		{"sends a push", func(db *fakeDatabase) { db.push(alice) }, []string{"+3"}, 0, nil},
		{"ignores a repeated message", func(db *fakeDatabase) {
			db.push(alice)
			db.send(at(db), pushed(2, 1))
			db.send(at(db), pushed(3, 2))
		}, []string{"+3"}, 0, nil},
		{"catches up after a lost message", func(db *fakeDatabase) {
			db.lose(at(db), 2)
			db.push(alice)
			db.push(alice)
			db.push(alice)
		}, []string{"+3", "+4", "+5"}, 1, nil},
		{"ignores a message that the list does not confirm", func(db *fakeDatabase) {
			db.send(at(db), pushed(90, 89))
			synctest.Wait()
			db.push(alice)
		}, []string{"+3"}, 1, nil},
		{"skips a post deleted before it was loaded", func(db *fakeDatabase) {
			db.remove(db.push(alice), alice)
			db.push(alice)
		}, []string{"-3", "+4"}, 0, []string{"-3"}},
		{"sends a removal", func(db *fakeDatabase) { db.remove(1, alice) }, []string{"-1"}, 0, []string{"-1"}},
		{"sends a repeated removal once", func(db *fakeDatabase) {
			db.remove(1, alice)
			db.send(at(db), removed(1))
		}, []string{"-1"}, 0, []string{"-1"}},
		{"resets after a change", func(db *fakeDatabase) { db.change(alice, without(1)) }, []string{"HISTORY_CHANGED"}, 1, nil},
		{"resets after a purge of the head", func(db *fakeDatabase) {
			db.change(alice, without(2))
			synctest.Wait()
			db.push(alice)
		}, []string{"HISTORY_CHANGED", "+3"}, 2, nil},
		{"resets if the list no longer holds the lost posts", func(db *fakeDatabase) {
			db.capacity = 2
			db.lose(at(db), 2)
			for range 4 {
				db.push(alice)
			}
			synctest.Wait()
			db.push(alice)
		}, []string{"CURSOR_TOO_OLD", "+7"}, 3, nil},
		{"catches up after a new connection", func(db *fakeDatabase) {
			db.disconnect(at(db), false)
			db.push(alice)
			db.remove(2, alice)
			db.push(alice)
		}, []string{"+3", "+4", "-2"}, 1, nil},
		{"ignores late messages of the old connection", func(db *fakeDatabase) {
			db.push(alice)
			db.remove(1, alice)
			db.disconnect(at(db), true)
		}, []string{"+3", "-1"}, 1, nil},
		{"retries posts that could not be loaded", func(db *fakeDatabase) {
			db.fail(true, "Shown")
			db.push(alice)
			time.Sleep(time.Second)
			db.push(alice)
			db.fail(false, "Shown")
			time.Sleep(10 * time.Second)
		}, []string{"+3", "+4"}, -1, nil},
		{"retries a list that could not be read", func(db *fakeDatabase) {
			db.fail(true, "Since")
			db.lose(at(db), 1)
			db.push(alice)
			db.push(alice)
			time.Sleep(3 * time.Second)
			db.remove(1, alice)
			db.fail(false, "Since")
			time.Sleep(10 * time.Second)
		}, []string{"+3", "+4", "-1"}, -1, nil},
		{"verifies a push onto a head that heads the list again", func(db *fakeDatabase) {
			db.lose(at(db), 1) // the message of post 3
			db.push(alice)
			db.change(alice, without(3))
			synctest.Wait()
			db.send(at(db), pushed(3, 2))
			db.push(alice)
		}, []string{"HISTORY_CHANGED", "+4"}, -1, nil},
		{"resets if a new master has the sent posts in another order", func(db *fakeDatabase) {
			db.push(alice)
			db.push(alice)
			synctest.Wait()
			db.failOver(alice, 1, 2, 4, 3)
			time.Sleep(10 * time.Second) // until the channel is subscribed again
			db.push(alice)
		}, []string{"+3", "+4", "HISTORY_CHANGED", "+5"}, -1, nil},
		{"resets if a new master has another post between those sent", func(db *fakeDatabase) {
			db.push(alice)
			synctest.Wait()
			db.failOver(alice, 1, 9, 2, 3)
			time.Sleep(10 * time.Second) // until the channel is subscribed again
			db.push(alice)
		}, []string{"+3", "HISTORY_CHANGED", "+4"}, -1, nil},
		{"resets if a new master with a trimmed list has another post between those sent", func(db *fakeDatabase) {
			for range 3 {
				db.push(alice)
			}
			synctest.Wait()
			db.failOver(alice, 3, 4, 9, 5)
			time.Sleep(10 * time.Second) // until the channel is subscribed again
			db.push(alice)
		}, []string{"+3", "+4", "+5", "HISTORY_CHANGED", "+6"}, -1, nil},
		{"resets if a catch-up before the new subscription finds the sent posts in another order", func(db *fakeDatabase) {
			db.push(alice)
			db.push(alice)
			synctest.Wait()
			db.rewrite(alice, 1, 2, 4, 3, 5)
			db.send(at(db), pushed(9, 8)) // by the old master
			synctest.Wait()
		}, []string{"+3", "+4", "HISTORY_CHANGED"}, 1, nil},
		{"resets if a catch-up for another reason finds another post between those sent", func(db *fakeDatabase) {
			db.push(alice)
			synctest.Wait()
			db.rewrite(alice, 1, 9, 2, 3, 4)
			time.Sleep(2 * time.Minute) // until the periodic check
		}, []string{"+3", "HISTORY_CHANGED"}, -1, nil},
		{"resets if a message repeats a post after another one", func(db *fakeDatabase) {
			db.push(alice)
			synctest.Wait()
			db.rewrite(alice, 1, 2, 9, 3)
			db.send(at(db), pushed(3, 9))
			synctest.Wait()
			db.push(alice)
		}, []string{"+3", "HISTORY_CHANGED", "+4"}, -1, nil},
		{"continues if a new master has the posts in the same order", func(db *fakeDatabase) {
			db.push(alice)
			synctest.Wait()
			db.failOver(alice, 1, 2, 3)
			time.Sleep(10 * time.Second) // until the channel is subscribed again
			db.push(alice)
		}, []string{"+3", "+4"}, -1, nil},
		{"finds lost messages by the periodic check", func(db *fakeDatabase) {
			db.lose(at(db), 4)
			db.push(alice)
			db.remove(2, alice)
			time.Sleep(2 * time.Minute)
		}, []string{"+3", "-2"}, -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
				db.push(alice)
				r := subscribe(t, h, alice, "")
				db.push(alice)
				r.want("caught up 0", "+2")
				before := db.callCount("Since")
				tt.then(db)
				synctest.Wait()
				if n := db.callCount("Since") - before; tt.reads >= 0 && n != tt.reads {
					t.Errorf("the list was read %d times, want %d", n, tt.reads)
				}
				r.want(tt.want...)

				// A resuming subscriber receives removals again that the feed received by message
				// after its last read.
				subscribe(t, h, alice, r.cursor).want(append(tt.again, fmt.Sprintf("caught up %d", len(tt.again)))...)
			})
		})
	}
}

func TestFeed_ContinuesAfterTheHeadOfAProfileWasDeleted(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(aliceProfile)
		for range 3 {
			db.push(aliceProfile)
		}
		r := subscribe(t, h, aliceProfile, from)
		r.want("+1", "+2", "+3", "caught up 3")
		db.remove(3, aliceProfile)
		db.push(aliceProfile)
		r.want("-3", "+4")
		db.remove(4, aliceProfile)
		time.Sleep(2 * time.Minute) // the feed finds 2 at the head
		r.want("-4")
		s := subscribe(t, h, aliceProfile, from)
		s.want("+1", "+2", "-3", "-4", "caught up 4")
		db.push(aliceProfile)
		r.want("+5")
		s.want("+5")
	})
}

// A profile drops a deleted post, so that only the removal shows that it existed.
func TestFeed_SkipsAPostDeletedWhileItIsLoaded(t *testing.T) {
	inBubble(t, Options{CheckEvery: 4 * time.Second, CallTimeout: time.Minute}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(aliceProfile)
		r := subscribe(t, h, aliceProfile, "")
		db.push(aliceProfile)
		r.want("caught up 0", "+2")
		release := db.hold("posts")
		db.push(aliceProfile)
		synctest.Wait()
		db.remove(3, aliceProfile)
		time.Sleep(10 * time.Second) // the periodic check runs
		r.want("-3")
		release()
		r.want()
		db.push(aliceProfile)
		r.want("+4")
	})
}

func TestFeed_HoldsMessagesBackWhileBusy(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		r := subscribe(t, h, alice, "")
		db.push(alice)
		r.want("caught up 0", "+2")

		db.lose(db.PartitionOf(alice), 1)
		db.push(alice)
		release := db.hold("timelines")
		db.push(alice) // the feed catches up; the reply contains posts 3 and 4
		synctest.Wait()
		db.push(alice)
		db.remove(4, alice)
		r.want()
		before := db.callCount("Since")
		release()
		r.want("+3", "+4", "+5", "-4")
		if n := db.callCount("Since") - before; n != 0 {
			t.Errorf("the list was read %d times again, want none", n)
		}

		db.lose(db.PartitionOf(alice), 1)
		db.push(alice)
		release = db.hold("timelines")
		db.push(alice)
		synctest.Wait()
		want := []string{"+6", "+7"}
		for range heldLength + 10 { // more than a feed holds back
			want = append(want, "+"+db.push(alice).String())
		}
		synctest.Wait()
		release()
		r.want(want...)
	})
}

func TestFeed_AdvancesPastHiddenEntries(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		r := subscribe(t, h, alice, "")
		db.push(alice)
		r.want("caught up 0", "+2")
		reads := db.callCount("Since")
		for range advanceEvery - 1 {
			db.hide(alice)
		}
		r.want()
		db.push(alice)
		r.want("+202")
		for range advanceEvery {
			db.hide(alice)
		}
		r.want("advanced")
		if at := position(t, alice, r.cursor); at.Element != retwis.Plain(402) {
			t.Errorf("the position is %v, want the last hidden entry", at.Element)
		}
		db.hide(alice)
		r.want()
		if n := db.callCount("Since") - reads; n != 0 {
			t.Errorf("the list was read %d times, want 0", n)
		}
		subscribe(t, h, alice, r.cursor).want("caught up 0")
	})
}
