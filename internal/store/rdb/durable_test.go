package rdb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store/script"
)

// A master had no replica when it was asked, gets one, and freezes with a write in its socket. When it resumes, the replica
// may have replaced it, and the write is lost. So it must not be acknowledged without the replica.
func TestDoDurably_DoesNotTrustASlowMasterWithoutReplicas(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	keepFrozen(t, cluster)
	db, err := Open(t.Context(), Options{URL: cluster.URL(), Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := db.partitions[0]
	write := Call{Script: script.ReleaseLease, Keys: []string{p.Lease()}, Args: []any{"worker"}}
	if _, err := db.DoDurably(t.Context(), write); err != nil {
		t.Fatal(err) // loads the script
	}

	frozen := cluster.Master(SlotOfKey(p.Lease()))
	master := awaitReplicas(t, db, p)
	for _, replica := range cluster.Nodes()[3:] {
		replica.Pause()
	}
	frozen.Pause()
	earlier := clusterView{[]slotRange{{0, 16383, 0}}, time.Now()}
	db.replicas.mu.Lock()
	db.replicas.views[master.Options().Addr] = earlier
	db.replicas.mu.Unlock()
	time.AfterFunc(clusterViewTTL+200*time.Millisecond, frozen.Resume)
	if _, err := db.DoDurably(t.Context(), write); !errors.Is(err, retwis.ErrNotReplicated) {
		t.Errorf("a write that no replica has: %v, want %v", err, retwis.ErrNotReplicated)
	}
}

// A repeated call finds its work done and writes nothing. From Redis 7.2 on, WAIT then waits for the last write of its connection, which may be older
// than the one of the first call. So each wait has a write of its own.
func TestDoDurably_WaitsForTheWritesOfEarlierCalls(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	db, err := Open(t.Context(), Options{URL: cluster.URL(), Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := db.partitions[0]
	awaitReplicas(t, db, p)
	sets := func() int {
		stats := cluster.Master(SlotOfKey(p.Lease())).Client().Info(t.Context(), "commandstats").Val()
		_, stats, _ = strings.Cut(stats, "cmdstat_set:calls=")
		calls, _, _ := strings.Cut(stats, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := sets()
	if _, err := db.DoDurably(t.Context(), Call{Script: script.ReleaseLease, Keys: []string{p.Lease()}, Args: []any{"nobody"}}); err != nil {
		t.Fatal(err)
	}
	if sets() == before {
		t.Error("nothing was written before the wait")
	}
}

// Attack: hundreds of users of one address posted while a replica was slow. Their posts waited for it on all connections that a process has, so all reads
// of everybody waited, too.
func TestDoDurably_LeavesConnectionsForReads(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	keepFrozen(t, cluster)
	const pool = 2
	db, err := Open(t.Context(), Options{URL: cluster.URL(), Timeout: 2 * time.Minute, PoolSize: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := db.partitions[0]
	awaitReplicas(t, db, p)
	write := Call{Script: script.ReleaseLease, Keys: []string{p.Lease()}, Args: []any{"nobody"}}
	if _, err := db.DoDurably(t.Context(), write); err != nil {
		t.Fatal(err) // loads the script
	}
	for _, replica := range cluster.Nodes()[3:] {
		replica.Pause()
	}
	var ended atomic.Int64
	var writing sync.WaitGroup
	const writes = 50 * pool
	for range writes {
		writing.Go(func() {
			_, _ = db.DoDurably(t.Context(), write)
			ended.Add(1)
		})
	}
	blocked := func() (clients int) {
		info := cluster.Master(SlotOfKey(p.Lease())).Client().Info(t.Context(), "clients").Val()
		_, info, _ = strings.Cut(info, "blocked_clients:")
		_, _ = fmt.Sscan(info, &clients)
		return clients
	}
	for before := 0; before < pool || before != blocked(); time.Sleep(100 * time.Millisecond) { // until no further one gets a connection
		if before = blocked(); ended.Load() > 0 {
			t.Fatal("a write did not wait for a replica")
		}
	}
	if err := db.Client.Exists(t.Context(), p.Lease()).Err(); err != nil || ended.Load() > 0 {
		t.Errorf("a read beside %d writes that wait: %v; %d of them had ended", writes, err, ended.Load())
	}
	for _, replica := range cluster.Nodes()[3:] {
		replica.Resume()
	}
	writing.Wait()
}

// keepFrozen makes a cluster regard frozen nodes as healthy for a minute.
func keepFrozen(t *testing.T, cluster *redistest.Group) {
	t.Helper()
	for _, node := range cluster.Nodes() {
		if err := node.Client().ConfigSet(t.Context(), "cluster-node-timeout", "60000").Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitReplicas waits until the master of a partition has a replica, and returns the master.
func awaitReplicas(t *testing.T, db *DB, p Partition) *redis.Client {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := db.Client.Set(t.Context(), p.Written(), "", time.Second).Err(); err != nil { // a replica of nothing counts as loading
			t.Fatal(err)
		}
		master, n, err := db.replicas.of(t.Context(), p.Lease())
		if n > 0 {
			return master
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d replicas: %v", n, err)
		}
	}
}
