package store_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A late post of an author stands on top of newer posts, because fan-out lagged. The author's next post is older than the
// end of the trimmed list. A merge, and a delivery below the merge mark, must still place it above the late one.
func TestMerge_PlacesAPostAboveLatePostsOfItsAuthor(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		reader, authors := e.ReaderApart(2)
		home, quick, slow := retwis.Home(reader), authors[0], authors[1]
		release := e.HoldOutbox(slow)
		e.Work(fanout.Options{})
		first, second := e.Post(slow, "first"), e.Post(slow, "second")
		for i := range 15 {
			e.Post(quick, fmt.Sprint(i))
			e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
		}
		entries, err := e.Outbox.ReadOutbox(t.Context(), e.Outbox.PartitionOfUser(slow), "0", 10, 0)
		if err != nil || len(entries) != 2 {
			t.Fatalf("%d entries: %v", len(entries), err)
		}
		late := outbox.Delivery{Entry: entries[0], Partition: e.Outbox.PartitionOfUser(reader), To: outbox.TargetFollowers}
		if !e.deliver(&late) {
			t.Fatal("one call did not deliver a post to one follower")
		}
		wantNewest := func(when string) {
			t.Helper()
			if got, want := e.Read(home)[:2], []retwis.PostID{second, first}; !slices.Equal(got, want) {
				t.Errorf("%s, the home begins with %v, want %v", when, got, want)
			}
		}
		if err := e.Tasks.Backfill(t.Context(), home, slow, 0); err != nil {
			t.Fatal(err)
		}
		wantNewest("after the merge")

		client := enginetest.Client(t, url)
		if n := client.LRem(t.Context(), enginetest.Keys(t, client, "*:home:"+reader.String())[0], 0, second.String()).Val(); n != 1 {
			t.Fatalf("the home holds the post %d times", n)
		}
		release()
		e.Drain()
		wantNewest("after the delivery")
	})
}

// Late posts of an author stand on top of newer posts. A rebuild reads only newer posts of the author, and must still place
// them above the late ones.
func TestRebuild_PlacesPostsAboveLatePostsThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		reader, authors := e.ReaderApart(3)
		quick, slow, other := authors[0], authors[1], authors[2]
		home, held := retwis.Home(reader), e.Outbox.PartitionOfUser(slow)
		release := e.HoldOutbox(slow)
		e.Work(fanout.Options{})
		late := e.Post(slow, "late")
		var newer []retwis.PostID
		for i := range 15 {
			e.Post(quick, fmt.Sprint(i))
			if i%5 == 0 {
				newer = append(newer, e.Post(slow, fmt.Sprint("newer ", i)))
				time.Sleep(2 * time.Millisecond) // the ids of one millisecond are ordered by the buckets of their authors
			}
			if i == 12 {
				e.Post(other, "other")
			}
			e.DrainAllBut(held)
		}
		entries, err := e.Outbox.ReadOutbox(t.Context(), held, "0", 1, 0)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%d entries: %v", len(entries), err)
		}
		delivery := outbox.Delivery{Entry: entries[0], Partition: e.Outbox.PartitionOfUser(reader), To: outbox.TargetFollowers}
		if !e.deliver(&delivery) {
			t.Fatal("one call did not deliver a post to one follower")
		}

		e.Unfollow(reader, other) // removes an entry
		e.DrainAllBut(held)
		if err := e.Timelines.Rebuild(t.Context(), home); err != nil {
			t.Fatal(err)
		}
		ofSlow := func() []retwis.PostID { // in the list, not below it
			return slices.DeleteFunc(e.Read(home)[:10], func(id retwis.PostID) bool { return id != late && !slices.Contains(newer, id) })
		}
		if got, want := ofSlow(), []retwis.PostID{newer[2], late}; !slices.Equal(got, want) {
			t.Errorf("after the rebuild, the list holds %v of the author, want %v", got, want)
		}
		release()
		e.Drain()
		if got := ofSlow(); !slices.IsSortedFunc(got, func(a, b retwis.PostID) int { return cmp.Compare(b, a) }) {
			t.Errorf("after the delivery, the list holds %v of the author, want the newest first", got)
		}
	})
}

// A list names the buckets of authors only. An older post of another author of the bucket arrived late and stands above a
// newer post of the author. The author's post between these two, which the list has trimmed, must not go above the
// newer one.
func TestMerge_KeepsTheOrderOfAuthorsOfOneBucket(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		reader, authors := e.ReaderApart(1)
		home, quick := retwis.Home(reader), authors[0]
		author, other := e.ofOneBucket(reader, quick)
		_, stop := e.Work(fanout.Options{})
		e.Follow(reader, other)
		e.Drain()
		stop()
		held := e.Outbox.PartitionOfUser(author)
		release := e.HoldOutbox(author)
		e.Work(fanout.Options{})
		e.Post(other, "late")
		trimmed := e.Post(author, "trimmed")
		quickPosts := func(n int) {
			t.Helper()
			for i := range n {
				e.Post(quick, fmt.Sprint(i))
				e.DrainAllBut(held)
			}
		}
		quickPosts(4)
		newer := e.Post(author, "newer")
		e.Follow(reader, author)
		quickPosts(6) // the last one trims the list
		client := enginetest.Client(t, url)
		list := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
		if got := client.LRange(t.Context(), list, 0, -1).Val(); slices.Contains(got, trimmed.String()) || !slices.Contains(got, newer.String()) {
			t.Fatalf("the list holds %v, want %s without %s", got, newer, trimmed)
		}
		entries, err := e.Outbox.ReadOutbox(t.Context(), held, "0", 10, 0)
		if err != nil || len(entries) != 3 {
			t.Fatalf("%d entries: %v", len(entries), err)
		}
		for _, entry := range entries {
			delivery := outbox.Delivery{Entry: entry, Partition: e.Outbox.PartitionOfUser(reader), To: outbox.TargetFollowers}
			if !e.deliver(&delivery) {
				t.Fatal("one call did not deliver a post to one follower")
			}
		}
		release()
		e.Drain()
		got := slices.DeleteFunc(e.Read(home), func(id retwis.PostID) bool { return id != trimmed && id != newer })
		if want := []retwis.PostID{newer, trimmed}; !slices.Equal(got, want) {
			t.Errorf("the home holds %v of the author, want %v", got, want)
		}
	})
}

// ofOneBucket registers two users whose posts have the same bucket, in another partition than others.
func (e *engine) ofOneBucket(others ...retwis.UserID) (retwis.UserID, retwis.UserID) {
	e.T.Helper()
	taken, byBucket := map[int]bool{}, map[int]retwis.UserID{}
	for _, user := range others {
		taken[e.Outbox.PartitionOfUser(user)] = true
	}
	for i := 0; ; i++ {
		user := e.Register(fmt.Sprint("bucket", i))[0]
		if first, ok := byBucket[user.PostBucket()]; ok {
			return first, user
		}
		if !taken[e.Outbox.PartitionOfUser(user)] {
			byBucket[user.PostBucket()] = user
		}
	}
}
