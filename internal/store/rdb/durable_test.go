package rdb

import (
	"errors"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store/script"
)

// A master had no replica when it was asked, gets one, and freezes with a write in its socket. When it resumes, the replica
// may have replaced it, and the write is lost. So it must not be acknowledged without the replica.
func TestDoDurably_DoesNotTrustASlowMasterWithoutReplicas(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	for _, node := range cluster.Nodes() {
		if err := node.Client().ConfigSet(t.Context(), "cluster-node-timeout", "60000").Err(); err != nil {
			t.Fatal(err)
		}
	}
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
	master, n, err := db.replicas.of(t.Context(), p.Lease())
	for deadline := time.Now().Add(time.Minute); n == 0; time.Sleep(50 * time.Millisecond) {
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d replicas: %v", n, err)
		}
		if err := db.Client.Set(t.Context(), p.Written(), "", time.Second).Err(); err != nil { // a replica of nothing counts as loading
			t.Fatal(err)
		}
		master, n, err = db.replicas.of(t.Context(), p.Lease())
	}
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
