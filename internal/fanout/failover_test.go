package fanout_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
)

// A replica that lacks the latest deliveries takes over from its master. The author's outbox
// is on another master, which acknowledged the post as durable. The worker must therefore
// still hold the entry and deliver it again.
func TestFailover_LosesNoDelivery(t *testing.T) {
	t.Parallel()
	const masters = 3
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: masters, Replicas: 1})
	e := newEngine(t, store.Options{URL: cluster.URL()})
	_, stop := e.Work(fanout.Options{})
	client := enginetest.Client(t, cluster.URL())
	masterOf := func(user retwis.UserID) *redistest.Node {
		return cluster.Master(cluster.Slot(enginetest.Keys(t, client, "*:user:"+user.String())[0]))
	}
	people := e.Crowd("user", 12)
	author, other := people[0], e.Register("other")[0]
	old := e.Post(other, "waits for a follower")
	elsewhere := func(user retwis.UserID) bool { return masterOf(user) != masterOf(author) }
	reader := people[slices.IndexFunc(people, elsewhere)]
	doomed := masterOf(reader)
	var fans []retwis.UserID // on the failing master and on others
	for _, fan := range people[1:] {
		e.Read(retwis.Home(fan))
		e.Follow(fan, author)
		fans = append(fans, fan)
	}
	list, err := e.Lists.CreateList(t.Context(), reader, "some", e.Key())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Lists.AddListMember(t.Context(), reader, list.ID, author); err != nil {
		t.Fatal(err)
	}
	e.Read(retwis.ListPosts(list.ID))
	var late retwis.UserID // follows while the replica receives nothing: her back-fill waits for the failover
	for i := 0; late == 0; i++ {
		if one := e.Register(fmt.Sprint("late", i))[0]; masterOf(one) == doomed {
			late = one
		}
	}
	e.Read(retwis.Home(late))
	first, second := e.Post(author, "hello"), e.Post(author, "to be deleted")
	e.Drain()
	stop()
	e.Follow(late, other)
	awaitReplicasKnown(t, cluster)
	before := e
	e = newEngine(t, store.Options{URL: cluster.URL()}) // with the current topology of the cluster
	e.ContinueKeys(before.Engine)

	replica := cluster.Nodes()[slices.Index(cluster.Nodes(), doomed)+masters]
	cutOff(t, replica.Client())
	worker, _ := e.Work(fanout.Options{})
	lost := e.Post(author, "hello @user"+"0, "+"on the way")
	if err := e.Posts.DeletePost(t.Context(), author, second); err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(e.Read(retwis.Home(reader)), lost) {
		time.Sleep(time.Millisecond)
	}
	// Wait for the entry to leave the outbox, which it must not do before the failover.
	for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		first, err := inspect.NewInspector(e.Store).OutboxStarts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first[e.Outbox.PartitionOfUser(author)] == "" {
			shards, err := doomed.Client().ClusterShards(t.Context()).Result()
			t.Fatalf("the entries left their outbox before a replica had the deliveries; the master knows %+v, %v", shards, err)
		}
	}
	doomed.Kill()
	cluster.AwaitAvailable()

	key := e.Key()
	third := retryFor(t, 30*time.Second, func() (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "after", IdempotencyKey: key})
	}).Post.ID
	e.Drain()
	want := []retwis.PostID{third, lost, first}
	e.everyFanHas(fans, want)
	if got := e.Read(retwis.ListPosts(list.ID)); !slices.Equal(got, want) {
		t.Errorf("list timeline: %v, want %v", got, want)
	}
	if got, want := enginetest.Newest(e.Read(retwis.Public())), enginetest.Newest(append(want, old)); !slices.Equal(got, want) {
		t.Errorf("the public timeline holds %v, want %v", got, want)
	}
	if got := e.Read(retwis.Home(late)); !slices.Equal(got, []retwis.PostID{old}) {
		t.Errorf("back-filled home: %v, want %v", got, []retwis.PostID{old})
	}
	e.IsSound()
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
	_, stop := e.Work(fanout.Options{})
	author := e.Register("author")[0]
	fans := e.fans(author, 20)
	e.Drain()
	for _, fan := range fans {
		e.Read(retwis.Home(fan))
	}
	stop()
	lost := e.Post(author, "delivered, which is forgotten")
	if err := enginetest.Client(t, server.URL()).Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	e.Work(fanout.Options{})
	e.Drain()
	e.everyFanHas(fans, []retwis.PostID{lost})
	server.Kill()
	server.Start()
	key := e.Key()
	after := retryFor(t, 30*time.Second, func() (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "after", IdempotencyKey: key})
	}).Post.ID
	e.Drain()
	e.everyFanHas(fans, []retwis.PostID{after, lost})
	e.IsSound()
}

// unanswered is an outbox whose replicas do not confirm the first waits.
type unanswered struct {
	*store.Outbox
	outbox int // the others are not affected
	waits  atomic.Int64
	left   []int // entries in the outbox after each wait
}

func (u *unanswered) VerifyDurable(ctx context.Context, outboxID int, first string, places []outbox.Target) ([]int, bool, error) {
	const unconfirmed = 2
	if outboxID != u.outbox || len(places) == 0 || u.waits.Add(1) > unconfirmed {
		return u.Outbox.VerifyDurable(ctx, outboxID, first, places)
	}
	entries, err := u.ReadOutbox(ctx, outboxID, "0", 10, 0)
	if err != nil {
		return nil, false, err
	}
	u.left = append(u.left, len(entries)) // the calls for one outbox do not overlap
	return nil, false, retwis.ErrNotReplicated
}

func TestTrim_WaitsForReplicas(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	author := e.Register("author")[0]
	_, stop := e.Work(fanout.Options{})
	e.Drain()
	stop()
	db := &unanswered{Outbox: e.Outbox, outbox: e.Outbox.PartitionOfUser(author)}
	post := e.Post(author, "x")
	_, stop = e.WorkOn(db, e.Tasks, fanout.Options{})
	e.Drain()
	stop()
	if got := e.Read(retwis.Public()); !slices.Equal(got, []retwis.PostID{post}) {
		t.Errorf("the public timeline holds %v, want %v", got, post)
	}
	if want := []int{1, 1}; !slices.Equal(db.left, want) {
		t.Errorf("entries in the outbox after unconfirmed waits: %v, want %v", db.left, want)
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
