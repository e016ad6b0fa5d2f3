package fanout_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A replica that lacks the latest deliveries takes over from its master. The author's outbox
// is on another master, which acknowledged the post as durable. The worker must therefore
// still hold the entry and deliver it again.
func TestFailover_LosesNoDelivery(t *testing.T) {
	t.Parallel()
	const masters = 3
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: masters, Replicas: 1})
	e := newEngine(t, store.Options{URL: cluster.URL()})
	_, stop := e.work(fanout.Options{})
	client := raw(t, cluster.URL())
	masterOf := func(user retwis.UserID) *redistest.Node {
		return cluster.Master(cluster.Slot(keys(t, client, "*:user:"+user.String())[0]))
	}
	people := e.crowd("user", 12)
	author, other := people[0], e.register("other")[0]
	old := e.post(other, "waits for a follower")
	elsewhere := func(user retwis.UserID) bool { return masterOf(user) != masterOf(author) }
	reader := people[slices.IndexFunc(people, elsewhere)]
	doomed := masterOf(reader)
	var fans []retwis.UserID // on the failing master and on others
	for _, fan := range people[1:] {
		e.read(retwis.Home(fan))
		e.follow(fan, author)
		fans = append(fans, fan)
	}
	list, err := e.Lists.CreateList(t.Context(), reader, "some", e.key())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Lists.AddListMember(t.Context(), reader, list.ID, author); err != nil {
		t.Fatal(err)
	}
	e.read(retwis.ListPosts(list.ID))
	var late retwis.UserID // her home is back-filled while the replica receives nothing
	for i := 0; late == 0; i++ {
		if one := e.register(fmt.Sprint("late", i))[0]; masterOf(one) == doomed {
			late = one
		}
	}
	e.read(retwis.Home(late))
	first, second := e.post(author, "hello"), e.post(author, "to be deleted")
	e.drain()
	stop()
	e.follow(late, other)
	awaitReplicasKnown(t, cluster)
	keysUsed := e.keys
	e = newEngine(t, store.Options{URL: cluster.URL()}) // with the current topology of the cluster
	e.keys = keysUsed

	replica := cluster.Nodes()[slices.Index(cluster.Nodes(), doomed)+masters]
	cutOff(t, replica.Client())
	worker, _ := e.work(fanout.Options{})
	lost := e.post(author, "hello @user"+"0, "+"on the way")
	if err := e.Posts.DeletePost(t.Context(), author, second); err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(e.read(retwis.Home(reader)), lost) || !slices.Contains(e.read(retwis.Home(late)), old) {
		time.Sleep(time.Millisecond)
	}
	// Wait until the entry leaves the outbox, which it must not do before the failover.
	for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if waiting, err := e.Outbox.OutboxLength(t.Context()); err == nil && waiting == 0 {
			break
		}
	}
	doomed.Kill()
	cluster.AwaitAvailable()

	key := e.key()
	third := retryFor(t, 30*time.Second, func() (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "after", IdempotencyKey: key})
	}).Post.ID
	e.drain()
	want := []retwis.PostID{third, lost, first}
	e.everyFanHas(fans, want)
	if got := e.read(retwis.ListPosts(list.ID)); !slices.Equal(got, want) {
		t.Errorf("list timeline: %v, want %v", got, want)
	}
	if got, want := newest(e.read(retwis.Public())), newest(append(want, old)); !slices.Equal(got, want) {
		t.Errorf("the public timeline holds %v, want %v", got, want)
	}
	if got := e.read(retwis.Home(late)); !slices.Equal(got, []retwis.PostID{old}) {
		t.Errorf("back-filled home: %v, want %v", got, []retwis.PostID{old})
	}
	e.isSound()
	if n := worker.Stats().DeadLetters; n > 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}

// A server restarts with an earlier state while the worker that delivered later entries
// continues. The worker delivers these entries again.
func TestRestore_OfAnEarlierStateRepeatsLostDeliveries(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	e := newEngine(t, store.Options{URL: server.URL()})
	_, stop := e.work(fanout.Options{})
	author := e.register("author")[0]
	fans := e.fans(author, 20)
	e.drain()
	for _, fan := range fans {
		e.read(retwis.Home(fan))
	}
	stop()
	lost := e.post(author, "delivered, which is forgotten")
	if err := raw(t, server.URL()).Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	e.work(fanout.Options{})
	e.drain()
	e.everyFanHas(fans, []retwis.PostID{lost})
	server.Kill()
	server.Start()
	key := e.key()
	after := retryFor(t, 30*time.Second, func() (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "after", IdempotencyKey: key})
	}).Post.ID
	e.drain()
	e.everyFanHas(fans, []retwis.PostID{after, lost})
	e.isSound()
}

// unanswered is an outbox whose replicas never confirm a write.
type unanswered struct {
	*store.Outbox
	waits atomic.Int64
}

func (u *unanswered) VerifyDurable(ctx context.Context, outboxID int, first string, places []outbox.Target, wait bool) ([]int, bool, error) {
	if wait {
		u.waits.Add(1)
		return nil, false, retwis.ErrNotReplicated
	}
	return u.Outbox.VerifyDurable(ctx, outboxID, first, places, false)
}

func TestTrim_WaitsForReplicasUntilReplicaTimeout(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	author := e.register("author")[0]
	db := &unanswered{Outbox: e.Outbox}
	e.workOn(db, e.Tasks, fanout.Options{ReplicaTimeout: 500 * time.Millisecond})
	post := e.post(author, "x")
	e.drain()
	if got := e.read(retwis.Public()); !slices.Equal(got, []retwis.PostID{post}) {
		t.Errorf("the public timeline holds %v, want %v", got, post)
	}
	if n := db.waits.Load(); n < 2 {
		t.Errorf("the worker waited for replicas %d times, want at least 2", n)
	}
}

// awaitReplicasKnown waits until every node knows that the replicas are online. The store does
// not wait for replicas before.
func awaitReplicasKnown(t *testing.T, cluster *redistest.Group) {
	t.Helper()
	for _, node := range cluster.Nodes() {
		retryFor(t, time.Minute, func() (bool, error) {
			shards, err := node.Client().ClusterShards(t.Context()).Result()
			for _, shard := range shards {
				for _, member := range shard.Nodes {
					if member.Health != "online" {
						return false, fmt.Errorf("%s is %s", member.ID, member.Health)
					}
				}
			}
			return true, err
		})
	}
}

// cutOff makes a replica receive nothing from its master any more.
func cutOff(t *testing.T, replica *redis.Client) {
	t.Helper()
	// The masters have no password, so that authentication with one fails.
	if err := replica.ConfigSet(t.Context(), "masterauth", "refused").Err(); err != nil {
		t.Fatal(err)
	}
	if err := replica.Do(t.Context(), "CLIENT", "KILL", "TYPE", "master").Err(); err != nil {
		t.Fatal(err)
	}
}
