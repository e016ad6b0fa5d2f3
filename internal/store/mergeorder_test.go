package store_test

import (
	"fmt"
	"slices"
	"testing"

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
		people := e.Apart(3)
		reader, quick, slow := people[0], people[1], people[2]
		home := retwis.Home(reader)
		_, stop := e.Work(fanout.Options{})
		e.Follow(reader, quick)
		e.Follow(reader, slow)
		e.Read(home)
		e.Drain()
		stop()
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
