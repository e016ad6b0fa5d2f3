package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/sleep"
)

// replicas knows which masters of a cluster have replicas.
type replicas struct {
	client *redis.ClusterClient

	mu     sync.Mutex
	ranges []slotRange
	read   time.Time
}

type slotRange struct {
	from, to int
	replicas int
}

func newReplicas(client *redis.ClusterClient) *replicas { return &replicas{client: client} }

// replicasAge is how old the picture of the cluster may be: shorter than it takes a
// replica to be given up and the writer to be waiting for one that is not there.
const replicasAge = time.Second

// of returns how many replicas the master of a key's slot has.
func (r *replicas) of(ctx context.Context, key string) (int, error) {
	slot, err := r.client.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return 0, fmt.Errorf("find the slot of %s: %w", key, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.read) > replicasAge {
		shards, err := r.client.ClusterShards(ctx).Result()
		if err != nil {
			return 0, fmt.Errorf("read the shards of the cluster: %w", err)
		}
		r.ranges = r.ranges[:0]
		for _, shard := range shards {
			healthy := 0
			for _, node := range shard.Nodes {
				if node.Role == "replica" && node.Health == "online" {
					healthy++
				}
			}
			for _, slots := range shard.Slots {
				r.ranges = append(r.ranges, slotRange{int(slots.Start), int(slots.End), healthy})
			}
		}
		r.read = time.Now()
	}
	for _, s := range r.ranges {
		if int(slot) >= s.from && int(slot) <= s.to {
			return s.replicas, nil
		}
	}
	return 0, nil
}

// errNotReplicated says that a write may be lost in a failover. The write is one that
// may be repeated.
var errNotReplicated = errors.New("no replica has confirmed the write in time: try again")

// doDurably runs a script and, where its master has replicas, waits until one of them has
// what was written.
func (s *Store) doDurably(ctx context.Context, c call) (*redis.Cmd, error) {
	if s.replicas == nil {
		reply := s.do(ctx, c)
		return reply, reply.Err()
	}
	const tries = 6
	var err error
	for try := range tries {
		if try > 0 {
			// Failovers and moves take a moment to be known.
			if err := sleep.For(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		var n int
		if n, err = s.replicas.of(ctx, c.keys[0]); err != nil {
			continue
		}
		if n == 0 {
			reply := s.do(ctx, c)
			return reply, reply.Err()
		}
		var reply *redis.Cmd
		if reply, err = s.doAndWait(ctx, c); err == nil || errors.Is(err, errNotReplicated) || answered(err) {
			return reply, err
		}
	}
	return nil, err
}

// doAndWait runs a script and WAIT on the connection to the master of the script's keys:
// WAIT is about what its own connection wrote.
func (s *Store) doAndWait(ctx context.Context, c call) (*redis.Cmd, error) {
	node, err := s.replicas.client.MasterForKey(ctx, c.keys[0])
	if err != nil {
		return nil, fmt.Errorf("find the master of %s: %w", c.keys[0], err)
	}
	for first := true; ; first = false {
		pipe := node.Pipeline()
		reply := pipe.EvalSha(ctx, c.script.Hash(), c.keys, c.args...)
		waited := pipe.Do(ctx, "WAIT", 1, (s.options.Timeout / 3).Milliseconds())
		_ = s.observer.exec(ctx, pipe, reply, waited) // both results hold their own errors
		if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") && first {
			if err := c.script.Load(ctx, node).Err(); err != nil {
				return nil, fmt.Errorf("load a script: %w", err)
			}
			continue
		}
		if err := reply.Err(); err != nil {
			return reply, err
		}
		if n, err := waited.Int(); err != nil || n < 1 {
			return reply, errors.Join(errNotReplicated, err)
		}
		return reply, nil
	}
}
