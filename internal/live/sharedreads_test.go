package live

import (
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

// subscribeEach subscribes to the homes of users in different partitions, and sends each a first post, which their feeds read from the list.
func subscribeEach(t *testing.T, db *fakeDatabase, h *Hub, partitions int) (readers []*reader, homes []retwis.TimelineID) {
	t.Helper()
	db.partitions = partitions
	for n := range retwis.UserID(partitions) {
		home := retwis.Home(1024 + n)
		homes, readers = append(homes, home), append(readers, subscribe(t, h, home, ""))
	}
	for _, r := range readers {
		r.want("caught up 0")
	}
	db.push(homes...)
	for _, r := range readers {
		r.want("+1")
	}
	return readers, homes
}

// Load: the process read each post once for each of 16 partitions, with pipelines that occupied Redis and the cores.
func TestSharedReads_ReadAPostOfAllPartitionsTwiceAtMost(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		readers, homes := subscribeEach(t, db, h, 8)
		before := db.callCount("Shown")
		release := db.hold("posts")
		post := db.push(homes[0])
		synctest.Wait() // its read has begun
		db.mu.Lock()
		db.deliver(retwis.Plain(post), homes[1:]...)
		db.mu.Unlock()
		synctest.Wait()
		if n := db.callCount("Shown") - before; n != 1 {
			t.Errorf("%d reads run at once, want 1", n)
		}
		release()
		for _, r := range readers {
			r.want("+2")
		}
		if n := db.callCount("Shown") - before; n != 2 {
			t.Errorf("the post was read %d times, want 2", n)
		}
	})
}

// A message may arrive after the deletion of its post, and the partition may have announced the deletion before it.
func TestSharedReads_BeginAfterTheMessage(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		readers, homes := subscribeEach(t, db, h, 2)
		release := db.hold("posts")
		post := db.push(homes[0])
		synctest.Wait() // its post has been read
		db.remove(post, homes[0])
		db.mu.Lock()
		db.deliver(retwis.Plain(post), homes[1])
		db.mu.Unlock()
		synctest.Wait()
		release()
		readers[0].want("+2", "-2")
		readers[1].want()
	})
}

// A post whose partition does not answer delays only the timelines that it was pushed to.
func TestSharedReads_WaitForNoOtherPartition(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		readers, homes := subscribeEach(t, db, h, 2)
		release := db.hold("posts")
		db.push(homes[0])
		synctest.Wait()
		db.pass()                    // replies of the other partition
		other := retwis.PostID(1000) // the last posts were in bucket 0
		db.mu.Lock()
		db.posts[other] = &retwis.Post{ID: other}
		db.deliver(retwis.Plain(other), homes[1])
		db.mu.Unlock()
		readers[1].want("+1000")
		readers[0].want()
		release()
		readers[0].want("+2")
	})
}

// Attack: after one read, thousands of feeds that had fallen behind each read the same posts again.
func TestRecentPosts_AreNotReadAgainByFeedsThatCatchUp(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		readers, homes := subscribeEach(t, db, h, 2)
		time.Sleep(time.Second)
		before := db.callCount("Shown")
		db.lose(1, 1)
		db.push(homes...)
		readers[0].want("+2")
		db.push(homes...)
		readers[0].want("+3")
		readers[1].want("+2", "+3")
		if n := db.callCount("Shown") - before; n > 3 {
			t.Errorf("posts were read %d times, want once for each message", n)
		}
	})
}

// A feed does not learn of a deletion that precedes its last known change.
func TestRecentPosts_OfAnEarlierReadAreReadAgain(t *testing.T) {
	inBubble(t, Options{CheckEvery: time.Hour}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		readers, homes := subscribeEach(t, db, h, 2)
		late := retwis.Home(homes[1].Owner + 2)
		db.push(late)
		time.Sleep(time.Second)
		post := db.push(homes[0]) // is read
		readers[0].want("+3")
		db.remove(post, homes[0], late)
		readers[0].want("-3")
		time.Sleep(time.Second)
		r := subscribe(t, h, late, "")
		r.want("caught up 0")
		db.lose(db.PartitionOf(late), 1)
		db.mu.Lock()
		db.deliver(retwis.Plain(post), late)
		db.mu.Unlock()
		db.push(late)
		r.want("+4")
	})
}
