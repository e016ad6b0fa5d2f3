package rdb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"

	"retwis/internal/retwis"
)

// replicas knows the number of replicas of each master of a cluster. It asks each master about itself, so that
// a write does not depend on other nodes.
type replicas struct {
	client *redis.ClusterClient // also for the writes that wait for them
	reads  singleflight.Group   // of views

	mu    sync.Mutex
	views map[string]clusterView // by the address of the master
}

// clusterView is the state of the cluster as one master sees it.
type clusterView struct {
	ranges []slotRange
	read   time.Time
}

type slotRange struct {
	from, to int
	replicas int
}

// clusterViewTTL is the maximum age of a view. It is shorter than the time after which a cluster declares a
// replica failed, so that writes do not wait for a replica that no longer exists.
const clusterViewTTL = time.Second

func newReplicas(client *redis.ClusterClient) *replicas {
	return &replicas{client: client, views: map[string]clusterView{}}
}

// of returns the master of a key, and the number of its online replicas.
func (r *replicas) of(ctx context.Context, key string) (*redis.Client, int, error) {
	master, err := r.client.MasterForKey(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("find the master of %s: %w", key, err)
	}
	v, err := r.view(ctx, master)
	if err != nil {
		return nil, 0, fmt.Errorf("read the replicas of the master of %s: %w", key, err)
	}
	slot := SlotOfKey(key)
	for _, s := range v.ranges {
		if slot >= s.from && slot <= s.to {
			return master, s.replicas, nil
		}
	}
	return master, 0, nil
}

func (r *replicas) view(ctx context.Context, master *redis.Client) (clusterView, error) {
	addr := master.Options().Addr
	r.mu.Lock()
	v := r.views[addr]
	r.mu.Unlock()
	if time.Since(v.read) <= clusterViewTTL {
		return v, nil
	}
	read, err, _ := r.reads.Do(addr, func() (any, error) {
		shards, err := master.ClusterShards(context.WithoutCancel(ctx)).Result() // other callers wait for the result too
		if err != nil {
			return clusterView{}, err
		}
		v := clusterView{rangesOf(shards), time.Now()}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.views[addr] = v
		return v, nil
	})
	return read.(clusterView), err
}

func rangesOf(shards []redis.ClusterShard) []slotRange {
	var ranges []slotRange
	for _, shard := range shards {
		healthy := 0
		for _, node := range shard.Nodes {
			if node.Role == "replica" && node.Health == "online" {
				healthy++
			}
		}
		for _, slots := range shard.Slots {
			ranges = append(ranges, slotRange{int(slots.Start), int(slots.End), healthy})
		}
	}
	return ranges
}

// Master is a Redis master.
type Master struct {
	db   *DB
	node *redis.Client // nil for a single server
}

// ByMaster groups the numbers of partitions by their master.
func (db *DB) ByMaster(ctx context.Context, numbers iter.Seq[int]) (map[Master][]int, error) {
	groups := map[Master][]int{}
	for number := range numbers {
		m := Master{db: db}
		if db.replicas != nil {
			node, err := db.replicas.client.MasterForKey(ctx, db.partitions[number].Written())
			if err != nil {
				return nil, fmt.Errorf("find the master of partition %d: %w", number, err)
			}
			m.node = node
		}
		groups[m] = append(groups[m], number)
	}
	return groups, nil
}

// ReloadMasters reads the masters of the cluster again, after a failover for example.
func (db *DB) ReloadMasters(ctx context.Context) {
	if db.replicas != nil {
		db.replicas.client.ReloadState(ctx)
	}
}

// Pipeline returns a pipeline to the master.
func (m Master) Pipeline() redis.Pipeliner {
	if m.node != nil {
		return m.node.Pipeline()
	}
	return m.db.Client.Pipeline()
}

// HasReplicas reports whether a wait for replicas is needed: the master has replicas, or it is no longer the
// master of the partition.
func (m Master) HasReplicas(ctx context.Context, of Partition) (bool, error) {
	if m.node == nil {
		return false, nil
	}
	node, n, err := m.db.replicas.of(ctx, of.Written())
	return n > 0 || node != m.node, err
}

// AwaitReplica adds commands to the master's pipeline that wait until a replica has all writes. Pass waited to
// [Replicated] after [Master.Exec].
func (m Master) AwaitReplica(ctx context.Context, pipe redis.Pipeliner, of Partition) (set *redis.StatusCmd, waited *redis.Cmd) {
	return m.db.waitForAll(ctx, pipe, of.Written())
}

// Replicated returns [retwis.ErrNotReplicated] unless the wait of [Master.AwaitReplica] found a replica.
func Replicated(waited *redis.Cmd) error {
	if n, err := waited.Int(); err != nil || n < 1 {
		return errors.Join(retwis.ErrNotReplicated, err)
	}
	return nil
}

// Exec runs a pipeline of the master. Each command holds its own error.
func (m Master) Exec(ctx context.Context, pipe redis.Pipeliner, cmds ...redis.Cmder) {
	if m.node != nil {
		_ = m.db.hook.exec(ctx, pipe, cmds...) // the client of a node has no hook
		return
	}
	_, _ = pipe.Exec(ctx)
}
