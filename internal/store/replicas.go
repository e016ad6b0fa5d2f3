package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"
)

// replicas knows how many replicas the masters of a cluster have: of each what it says
// itself, so that nobody waits for a node that has nothing to do with what is written.
type replicas struct {
	client *redis.ClusterClient
	reads  singleflight.Group // of views

	mu    sync.Mutex
	views map[string]view // by the address of the master whose it is
}

// view is what a master knows of its cluster.
type view struct {
	ranges []slotRange
	read   time.Time
}

type slotRange struct {
	from, to int
	replicas int
}

// viewAge is how old a view may be: shorter than it takes a replica to be given up and the
// writer to be waiting for one that is not there.
const viewAge = time.Second

func newReplicas(client *redis.ClusterClient) *replicas {
	return &replicas{client: client, views: map[string]view{}}
}

// of returns the master of a partition's key, and how many replicas it has.
func (r *replicas) of(ctx context.Context, key string) (*redis.Client, int, error) {
	master, err := r.client.MasterForKey(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("find the master of %s: %w", key, err)
	}
	v, err := r.view(ctx, master)
	if err != nil {
		return nil, 0, fmt.Errorf("ask the master of %s for its replicas: %w", key, err)
	}
	slot := slotOfKey(key)
	for _, s := range v.ranges {
		if slot >= s.from && slot <= s.to {
			return master, s.replicas, nil
		}
	}
	return master, 0, nil
}

func (r *replicas) view(ctx context.Context, master *redis.Client) (view, error) {
	addr := master.Options().Addr
	r.mu.Lock()
	v := r.views[addr]
	r.mu.Unlock()
	if time.Since(v.read) <= viewAge {
		return v, nil
	}
	read, err, _ := r.reads.Do(addr, func() (any, error) {
		shards, err := master.ClusterShards(context.WithoutCancel(ctx)).Result() // others wait for it, too
		if err != nil {
			return view{}, err
		}
		v := view{rangesOf(shards), time.Now()}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.views[addr] = v
		return v, nil
	})
	return read.(view), err
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
