package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// replicated starts a cluster with replicas, and opens a database there once its masters
// know that these follow. Nodes that hang from then on are not given up while a test runs.
func replicated(t *testing.T) (*redistest.Group, *Store) {
	t.Helper()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	s := open(t, Options{URL: cluster.URL(), Timeout: 6 * time.Second})
	for _, p := range s.partitions {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			_, n, err := s.replicas.of(t.Context(), p.clock())
			if err == nil && n == 1 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("partition %d has %d replicas: %v", p.number, n, err)
			}
			if err := s.client.Set(t.Context(), p.written(), "", time.Second).Err(); err != nil { // a replica of nothing counts as loading
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

func TestAMasterThatHangsIsNoTroubleOfTheOthers(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprint("user", i))
	}
	ids := people(t, s, names...)
	hung := cluster.Master(0)
	troubled := map[retwis.UserID]bool{}
	var well []retwis.UserID
	for _, id := range ids {
		if troubled[id] = cluster.Master(slotOfKey(s.of(id).clock())) == hung; !troubled[id] {
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
	calls := make([]call, len(ids))
	for i, id := range ids {
		calls[i] = call{s.scripts.countFollowers, []string{s.of(id).clock(), s.of(id).followers(id)}, nil}
	}
	for i, reply := range s.doAll(ctx, calls) {
		if failed := reply.Err() != nil; failed != troubled[ids[i]] {
			t.Errorf("a call for a master that hangs (%v): %v", troubled[ids[i]], reply)
		}
	}
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), s.options.Timeout-time.Second)
		_, err := s.CreatePost(ctx, retwis.NewPost{Author: well[i%len(well)], Text: "x", IdempotencyKey: fmt.Sprint(i)})
		cancel()
		if err != nil {
			t.Fatalf("a post of somebody on a master that is well: %v", err)
		}
	}
}

func TestAnImportWaitsForReplicas(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	ids := people(t, s, "reader", "author")
	follows := []retwis.Followings{{Reader: ids[0], Authors: ids[1:]}}

	replicas := cluster.Nodes()[3:]
	for _, replica := range replicas {
		replica.Pause()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if added, err := s.FollowAll(ctx, follows); added != 1 || !errors.Is(err, retwis.ErrNotReplicated) {
		t.Errorf("%d follows were made, and the error is: %v", added, err)
	}
	for _, replica := range replicas {
		replica.Resume()
	}
	if added, err := s.FollowAll(t.Context(), follows); added != 0 || err != nil {
		t.Errorf("%d follows were made again: %v", added, err)
	}
}
