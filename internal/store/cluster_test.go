package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
	"retwis/internal/store/storetest"
)

// replicated starts a cluster with replicas and opens a database on it when every master
// has a connected replica. The node timeout is longer than any test.
func replicated(t *testing.T) (*redistest.Group, *store.Store) {
	t.Helper()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	s := storetest.Open(t, store.Options{URL: cluster.URL(), Timeout: 6 * time.Second})
	for _, p := range s.DB().Partitions() {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			replicas, err := hasReplicas(t, s.DB(), p)
			if replicas {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("partition %d has no replica: %v", p.Number, err)
			}
			if err := s.DB().Client.Set(t.Context(), p.Written(), "", time.Second).Err(); err != nil { // a replica of nothing counts as loading
				t.Fatal(err)
			}
		}
	}
	for _, node := range cluster.Nodes() {
		if err := node.Client().ConfigSet(t.Context(), "cluster-node-timeout", "60000").Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cluster, s
}

// hasReplicas reports whether the master of a partition knows a replica.
func hasReplicas(t *testing.T, db *rdb.DB, p rdb.Partition) (bool, error) {
	t.Helper()
	masters, err := db.ByMaster(t.Context(), slices.Values([]int{p.Number}))
	if err != nil {
		return false, err
	}
	for master := range masters {
		return master.HasReplicas(t.Context(), p)
	}
	return false, nil
}

func TestStore_FrozenMasterLeavesOthersUsable(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprint("user", i))
	}
	ids := storetest.Register(t, s, names...)
	hung := cluster.Master(0)
	troubled := map[retwis.UserID]bool{}
	var well []retwis.UserID
	for _, id := range ids {
		if troubled[id] = cluster.Master(rdb.SlotOfKey(s.DB().OfUser(id).Clock())) == hung; !troubled[id] {
			well = append(well, id)
		}
	}
	if len(well) == 0 || len(well) == len(ids) {
		t.Fatalf("%d of %d users are on two of three masters", len(well), len(ids))
	}
	for _, node := range cluster.Nodes() {
		if err := node.Client().ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	hung.Pause()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the driver tries for longer
	defer cancel()
	calls := make([]rdb.Call, len(ids))
	for i, id := range ids {
		calls[i] = rdb.Call{Script: script.CountFollowers, Keys: []string{s.DB().OfUser(id).Clock(), s.DB().OfUser(id).User(id).Followers()}}
	}
	for i, reply := range s.DB().DoAll(ctx, calls) {
		if failed := reply.Err() != nil; failed != troubled[ids[i]] {
			t.Errorf("a call for a master that hangs (%v): %v", troubled[ids[i]], reply)
		}
	}
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), s.Options().Timeout-time.Second)
		_, err := s.Posts.CreatePost(ctx, retwis.NewPost{Author: well[i%len(well)], Text: "x", IdempotencyKey: fmt.Sprint(i)})
		cancel()
		if err != nil {
			t.Fatalf("a post of somebody on a master that is well: %v", err)
		}
	}
}

func TestImport_WaitsForReplicas(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	ids := storetest.Register(t, s, "reader", "author")
	follows := []retwis.Followings{{Reader: ids[0], Authors: ids[1:]}}

	replicas := cluster.Nodes()[3:]
	for _, replica := range replicas {
		replica.Pause()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if added, err := bulk.New(s).FollowAll(ctx, follows); added != 1 || !errors.Is(err, retwis.ErrNotReplicated) {
		t.Errorf("%d follows were made, and the error is: %v", added, err)
	}
	for _, replica := range replicas {
		replica.Resume()
	}
	if added, err := bulk.New(s).FollowAll(t.Context(), follows); added != 0 || err != nil {
		t.Errorf("%d follows were made again: %v", added, err)
	}
}
