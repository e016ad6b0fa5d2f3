package fanout_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Two workers may count a post at once, after a lease has moved. The worker that counted first must not settle the post if the other
// one has stored another number since.
func TestLikes_CountedByTwoWorkersAtOnceAreExact(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	people := e.Register("author", "fan", "visitor")
	post := e.Post(people[0], "one")
	e.Like(people[1], post)
	p := e.DB().Partition(0)
	do := func(c rdb.Call) *redis.Cmd {
		reply := e.DB().Do(t.Context(), c)
		if err := reply.Err(); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	type counted struct{ version, due, likers any }
	count := func() counted {
		reply, _ := do(rdb.Call{Script: script.DueLikes, Keys: []string{p.ChangedLikes(), p.Clock()}, Args: []any{1, p.Prefix(rdb.LikerKeys), 1}}).Slice()
		if len(reply) != 4 {
			t.Fatalf("the changed likes that are due: %v", reply)
		}
		return counted{reply[0], reply[2], reply[3]}
	}
	set := func(c counted) string {
		answer, _ := do(rdb.Call{
			Script: script.SetLikeCount, Keys: []string{p.Post(post), p.LikePartitions(post), p.Online(), p.OnlineNodes()},
			Args: []any{0, c.version, c.likers, post.String(), e.DB().Publish, p.Prefix(rdb.LiveChannels), retwis.PostCounts(0).String()},
		}).Text()
		return answer
	}
	if err := e.DB().Client.ZAdd(t.Context(), p.ChangedLikes(), redis.Z{Score: 1, Member: post.String()}).Err(); err != nil { // due now
		t.Fatal(err)
	}
	first := count()
	e.likeUncounted(people[2], post)
	set(count())
	e.Unlike(people[2], post)
	if set(first) == "same" {
		do(rdb.Call{
			Script: script.SettleLikes, Keys: []string{p.ChangedLikes()},
			Args: []any{p.Prefix(rdb.LikerKeys), 1, post.String(), first.due, first.likers},
		})
	}
	e.Work(fanout.Options{})
	e.Drain()
	if got := e.likeCount(post); got != 1 {
		t.Errorf("%d likes, want 1", got)
	}
}

// A worker that has counted the likers of a post before its deletion must not forget the deletion.
func TestLikes_OfAPostThatIsDeletedWhileItIsCountedAreRemoved(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	people := e.Register("author", "fan")
	post := e.Post(people[0], "one")
	e.Like(people[1], post)
	p := e.DB().Partition(0)
	client := enginetest.Client(t, e.URL)
	due, err := client.ZScore(t.Context(), p.ChangedLikes(), post.String()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Posts.DeletePost(t.Context(), people[0], post); err != nil {
		t.Fatal(err)
	}
	entries, err := e.Outbox.ReadOutbox(t.Context(), 0, "0", 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	deletion := outbox.Delivery{Entry: entries[len(entries)-1], To: outbox.TargetLikers}
	if result := e.Outbox.Deliver(t.Context(), []outbox.Delivery{deletion})[0]; result.Err != nil {
		t.Fatal(result.Err)
	}
	err = e.DB().Do(t.Context(), rdb.Call{ // the end of a count that began before
		Script: script.SettleLikes, Keys: []string{p.ChangedLikes()},
		Args: []any{p.Prefix(rdb.LikerKeys), 1, post.String(), strconv.FormatInt(int64(due), 10), 1},
	}).Err()
	if err != nil {
		t.Fatal(err)
	}
	e.Work(fanout.Options{})
	e.Drain()
	e.wantNoLikes(post)
}

// Attack: accounts with thousands of liked posts were deleted. The worker removed all of their likes, one exchange after the other, before it counted
// those of other posts.
func TestLikes_OfDeletedPostsAreRemovedInParts(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	author := e.Register("author")[0]
	post := e.Post(author, "popular")
	p, client := e.DB().Partition(0), e.DB().Client
	const likes = 7000
	likers := make([]redis.Z, likes)
	for i := range likers {
		likers[i] = redis.Z{Score: float64(i + 1), Member: 1_000_000 + i}
	}
	if err := client.ZAdd(t.Context(), p.Likers(post), likers...).Err(); err != nil {
		t.Fatal(err)
	}
	if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
		t.Fatal(err)
	}
	if err := client.ZAdd(t.Context(), p.ChangedLikes(), redis.Z{Score: 1, Member: post.String()}).Err(); err != nil { // due now
		t.Fatal(err)
	}
	before := likes
	for calls := 0; before > 0; calls++ {
		if _, err := e.Tasks.CountLikes(t.Context(), []int{0}); err != nil {
			t.Fatal(err)
		}
		left := int(client.ZCard(t.Context(), p.Likers(post)).Val())
		if calls == 0 && (left == 0 || left > likes/2) {
			t.Errorf("the first call has left %d of %d likes, want some", left, likes)
		}
		if calls > 1000 {
			t.Fatalf("%d likes are left after %d calls", left, calls)
		}
		before = left
		time.Sleep(5 * time.Millisecond) // until they are due again
	}
	e.CountLikes()
	if n, err := e.Likes.ChangedLikes(t.Context()); n != 0 || err != nil {
		t.Errorf("%d posts are changed after all likes were removed, %v", n, err)
	}
}
