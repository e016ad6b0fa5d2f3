package fanout_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// refusals counts how often a worker did not process entries that it had read, because no replica had them.
type refusals struct {
	*store.Outbox
	count atomic.Int64
}

func (r *refusals) VerifyEntries(ctx context.Context, outboxID int, upTo string) error {
	err := r.Outbox.VerifyEntries(ctx, outboxID, upTo)
	if errors.Is(err, retwis.ErrNotReplicated) {
		r.count.Add(1)
	}
	return err
}

// A failover loses a post that no replica had. Neither fan-out, nor a back-fill, nor a rebuild may have put it on
// timelines of other masters, because they would hold a post that does not exist.
func TestFailover_LeavesNoDeliveryOfALostPost(t *testing.T) {
	t.Parallel()
	const masters = 3
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: masters, Replicas: 1})
	awaitReplicasKnown(t, cluster)
	e := newEngine(t, store.Options{URL: cluster.URL(), Timeout: 1500 * time.Millisecond})
	client := enginetest.Client(t, cluster.URL())
	masterOf := func(user retwis.UserID) *redistest.Node {
		return cluster.Master(cluster.Slot(enginetest.Keys(t, client, "*:user:"+user.String())[0]))
	}
	people := e.Apart(12) // of 16 partitions, at most six of which are on one master
	author := people[0]
	doomed := masterOf(author)
	elsewhere := slices.DeleteFunc(slices.Clone(people), func(user retwis.UserID) bool { return masterOf(user) == doomed })
	if len(elsewhere) < 3 {
		t.Fatalf("%d of %d users are on other masters, want 3", len(elsewhere), len(people))
	}
	follower, late, idle := elsewhere[0], elsewhere[1], elsewhere[2]
	_, stop := e.Work(fanout.Options{})
	first := e.Post(author, "first")
	for _, reader := range []retwis.UserID{follower, late, idle} {
		e.Follow(reader, author)
		e.Read(retwis.Home(reader))
	}
	e.Drain()
	stop()

	replica := cluster.Nodes()[slices.Index(cluster.Nodes(), doomed)+masters]
	cutOff(t, replica.Client())
	key := e.Key()
	create := func() (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "second", IdempotencyKey: key})
	}
	if _, err := create(); !errors.Is(err, retwis.ErrNotReplicated) {
		t.Fatalf("a post without a replica: %v", err)
	}
	if err := e.Tasks.Backfill(t.Context(), retwis.Home(late), author, 0); !errors.Is(err, retwis.ErrNotReplicated) {
		t.Errorf("a back-fill with a post without a replica: %v", err)
	}
	home := enginetest.Keys(t, client, "*:home:"+idle.String())[0]
	if err := client.Del(t.Context(), home).Err(); err != nil {
		t.Fatal(err)
	}
	r := &refusals{Outbox: e.Outbox}
	e.WorkOn(r, e.Tasks, fanout.Options{})
	for deadline := time.Now().Add(time.Minute); r.count.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the worker refused no entry")
		}
	}
	if got := e.Read(retwis.Home(idle)); len(got) != 2 {
		t.Errorf("a home that cannot be built shows %d posts, want 2 from the profile", len(got))
	}
	doomed.Kill()
	cluster.AwaitAvailable()

	second := retryFor(t, 30*time.Second, create).Post.ID
	e.Drain()
	for _, reader := range []retwis.UserID{follower, late, idle} {
		if got, want := e.Read(retwis.Home(reader)), []retwis.PostID{second, first}; !slices.Equal(got, want) {
			t.Errorf("home: %v, want %v", got, want)
		}
	}
	e.IsSound()
}
