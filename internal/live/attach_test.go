package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestAttach_JoinsAtThePositionOfTheFeed(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, db *fakeDatabase, h *Hub, first *reader)
	}{
		{"feed at the head of the list", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			from := db.cursor(alice)
			db.push(alice)
			first.want("+3")
			subscribe(t, h, alice, from).want("+3", "caught up 1")
			subscribe(t, h, alice, "").want("caught up 0")
		}},
		{"feed behind the list, resume from its position", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			from := db.cursor(alice)
			db.lose(db.PartitionOf(alice), 2)
			db.push(alice)
			db.push(alice)
			second := subscribe(t, h, alice, from)
			second.want("caught up 0")
			db.push(alice)
			second.want("+3", "+4", "+5")
			first.want("+3", "+4", "+5")
		}},
		{"feed behind the list, resume from an older position", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			from := db.cursor(alice)
			db.push(alice)
			first.want("+3")
			db.lose(db.PartitionOf(alice), 1)
			db.push(alice)
			second := subscribe(t, h, alice, from)
			second.want("+3", "caught up 1")
			db.push(alice)
			second.want("+4", "+5")
			first.want("+4", "+5")
		}},
		{"feed behind the cursor catches up", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			db.lose(db.PartitionOf(alice), 1)
			db.push(alice)
			second := subscribe(t, h, alice, db.cursor(alice))
			second.want("caught up 0")
			first.want("+3") // the feed caught up to reach the cursor
			db.push(alice)
			second.want("+4")
			first.want("+4")
		}},
		{"feed behind the list, without a cursor", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			db.lose(db.PartitionOf(alice), 1)
			db.push(alice)
			second := subscribe(t, h, alice, "")
			second.want("caught up 0")
			first.want("+3")
		}},
		{"feed of an older epoch", func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
			from := db.cursor(alice)
			db.lose(db.PartitionOf(alice), 1)
			db.change(alice, without(1))
			subscribe(t, h, alice, from).want("HISTORY_CHANGED", "caught up 0")
			subscribe(t, h, alice, db.cursor(alice)).want("caught up 0")
			first.want("HISTORY_CHANGED")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			besideASubscriber(t, tt.do)
		})
	}
}

// besideASubscriber runs a test with a subscriber who has received the second of two posts.
func besideASubscriber(t *testing.T, do func(t *testing.T, db *fakeDatabase, h *Hub, first *reader)) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		first := subscribe(t, h, alice, "")
		db.push(alice)
		first.want("caught up 0", "+2")
		do(t, db, h, first)
	})
}

// The feed and the read of a joining subscriber may have read different masters.
func TestAttach_ComparesTheReadWithWhatTheFeedSent(t *testing.T) {
	tests := []struct {
		name string
		list []retwis.PostID // oldest first; the feed has sent 1 to 4
		want []string
	}{
		{"another order", []retwis.PostID{1, 2, 4, 3}, []string{"+4", "+3", "caught up 2"}},
		{"a post is lost", []retwis.PostID{1, 2, 4}, []string{"+4", "caught up 1"}},
		{"newer posts, too", []retwis.PostID{1, 2, 5, 3, 4, 6}, []string{"+5", "+3", "+4", "+6", "caught up 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			besideASubscriber(t, func(t *testing.T, db *fakeDatabase, h *Hub, first *reader) {
				from := db.cursor(alice)
				db.push(alice)
				db.push(alice)
				first.want("+3", "+4")
				db.push(carol)
				db.push(carol)
				db.rewrite(alice, tt.list...)
				second := subscribe(t, h, alice, from)
				second.want(tt.want...)
				first.want("HISTORY_CHANGED")
				db.push(alice)
				second.want("+7")
				first.want("+7")
			})
		})
	}
}

// A failover may lose entries, which are then delivered again in another order. The cursors of pages, replays and live events name
// the entries below their own.
func TestAttach_ResetsSubscribersWhoResumeInAnotherOrder(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		begin := db.cursor(alice)
		live := subscribe(t, h, alice, "")
		live.want("caught up 0")
		for range 3 {
			db.push(alice)
		}
		live.want("+1", "+2", "+3")
		replayed := subscribe(t, h, alice, begin)
		replayed.want("+1", "+2", "+3", "caught up 3")
		live.close()
		replayed.close()
		subscribe(t, h, alice, live.cursor).want("caught up 0")
		synctest.Wait()
		db.failOver(alice, 1, 3, 2)
		time.Sleep(10 * time.Second) // until the channel is subscribed again
		subscribe(t, h, alice, live.cursor).want("HISTORY_CHANGED", "caught up 0")
		subscribe(t, h, alice, replayed.cursor).want("HISTORY_CHANGED", "caught up 0")
		db.push(alice)
		subscribe(t, h, alice, live.cursor).want("HISTORY_CHANGED", "caught up 0")
	})
}

// The feed advances while the read of a joining subscriber is in progress.
func TestAttach_JoinsAFeedThatAdvancesDuringTheRead(t *testing.T) {
	tests := []struct {
		name      string
		meanwhile func(db *fakeDatabase)
		want      []string
	}{
		{"post arrives", func(db *fakeDatabase) { db.push(alice) }, []string{"+2", "+3", "caught up 2"}},
		{"older post is deleted", func(db *fakeDatabase) { db.remove(1, alice) }, []string{"+2", "caught up 1", "-1"}},
		{"replayed post is deleted", func(db *fakeDatabase) { db.remove(2, alice) }, []string{"caught up 0", "-2"}},
		{"more events than the feed remembers", func(db *fakeDatabase) {
			for range recentLength + 10 {
				db.push(alice)
				synctest.Wait()
			}
			for n := range retwis.PostID(removedLength + 10) {
				db.remove(n+2, alice)
				synctest.Wait()
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
				db.push(alice)
				from := db.cursor(alice)
				first := subscribe(t, h, alice, "")
				db.push(alice)
				first.want("caught up 0", "+2")

				release := db.hold("timelines")
				joined := make(chan *reader)
				go func() { joined <- subscribe(t, h, alice, from) }()
				synctest.Wait()
				tt.meanwhile(db)
				synctest.Wait()
				release()
				second := <-joined
				if tt.want != nil {
					second.want(tt.want...)
					return
				}
				var want []string
				for id := retwis.PostID(removedLength + 12); id <= db.lastPost; id++ {
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

// A reset makes earlier removals obsolete for the subscribers of the feed, but not for a
// subscriber whose read precedes it.
func TestAttach_SendsRemovalsBeforeAResetToALaterSubscriber(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		first := subscribe(t, h, alice, "")
		first.want("caught up 0")
		db.capacity = 1
		db.lose(db.PartitionOf(alice), 3)
		db.push(alice)
		db.push(alice)

		release := db.hold("timelines")
		joined := make(chan *reader)
		go func() { joined <- subscribe(t, h, alice, db.cursor(alice)) }()
		synctest.Wait()
		db.pass()
		db.remove(3, alice)
		db.disconnect(db.PartitionOf(alice), false)
		first.want("CURSOR_TOO_OLD")
		release()
		second := <-joined
		second.want("-3", "caught up 1")
		db.capacity = 10
		db.push(alice)
		first.want("+4")
		second.want("+4")
	})
}

// The position of a reset is not before the subscriber's own position.
func TestAttach_ResetDoesNotMoveASubscriberBack(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		first := subscribe(t, h, alice, "")
		db.push(alice)
		first.want("caught up 0", "+1")
		db.lose(db.PartitionOf(alice), 4)
		db.push(alice)
		from := db.cursor(alice)
		db.capacity = 2
		for range 3 {
			db.push(alice)
		}
		second := subscribe(t, h, alice, from)
		second.want("CURSOR_TOO_OLD", "caught up 0")
		first.want("CURSOR_TOO_OLD")
		db.push(alice)
		first.want("+6")
		second.want("+6")
	})
}

func TestAttach_ResetsAfterRepeatedConcurrentChanges(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		from := db.cursor(alice)
		first := subscribe(t, h, alice, "")
		first.want("caught up 0")
		change := func() { db.changeLocked(alice, func(e []retwis.Element) []retwis.Element { return e }) }
		db.lose(db.PartitionOf(alice), 1000)
		change()
		db.afterRead = change // each reply is outdated when it arrives
		subscribe(t, h, alice, from).want("HISTORY_CHANGED", "caught up 0")
		subscribe(t, h, alice, "").want("caught up 0")
	})
}
