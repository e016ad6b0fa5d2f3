package rdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// DoDurably runs a script. If the master has replicas, it waits until one of them has the writes.
func (db *DB) DoDurably(ctx context.Context, c Call) (*redis.Cmd, error) {
	if db.replicas == nil {
		reply := db.Do(ctx, c)
		return reply, reply.Err()
	}
	const tries = 6
	var err error
	for try := range tries {
		if try > 0 {
			// The client learns of failovers and slot migrations with a delay.
			if err := sleep.For(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		var master *redis.Client
		var n int
		if master, n, err = db.replicas.of(ctx, c.Keys[0]); err != nil {
			continue
		}
		if n == 0 {
			return db.doUnreplicated(ctx, master, c)
		}
		var reply *redis.Cmd
		if reply, err = db.doAndWait(ctx, master, c); err == nil || errors.Is(err, retwis.ErrNotReplicated) || Answered(err) {
			return reply, err
		}
	}
	return nil, err
}

// DoAllDurably runs a few scripts at once, each as DoDurably does. It returns an error if any of them fails.
func (db *DB) DoAllDurably(ctx context.Context, calls []Call) ([]*redis.Cmd, error) {
	if db.replicas == nil {
		replies := db.DoAll(ctx, calls)
		for _, reply := range replies {
			if err := reply.Err(); err != nil {
				return nil, err
			}
		}
		return replies, nil
	}
	replies := make([]*redis.Cmd, len(calls))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range calls {
		group.Go(func() error {
			var err error
			replies[i], err = db.DoDurably(ctx, c)
			return err
		})
	}
	return replies, group.Wait()
}

// doUnreplicated runs a script at a master without replicas. If the master took long to answer, it may have got a replica
// meanwhile, which then replaced it: it does not know that when it resumes after a freeze. So the method then looks again,
// and waits for the replica.
func (db *DB) doUnreplicated(ctx context.Context, master *redis.Client, c Call) (*redis.Cmd, error) {
	sent := time.Now()
	reply := db.Do(ctx, c)
	if err := reply.Err(); err != nil || time.Since(sent) < clusterViewTTL {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, db.options.Timeout)
	defer cancel()
	return reply, db.awaitReplica(ctx, master, db.ofKey(c.Keys[0]).Written())
}

// doAndWait runs a script and waits for its writes on one connection to the master of the script's keys. If it finds its work done, by a call of which
// the client did not see the end, it waits for the writes of that call.
func (db *DB) doAndWait(ctx context.Context, master *redis.Client, c Call) (*redis.Cmd, error) {
	pipe := master.Pipeline()
	for run := db.program(c).EvalSha; ; run = db.program(c).Eval {
		reply := run(ctx, pipe, c.keys(), c.Args...)
		set, waited := db.waitForAll(ctx, pipe, db.ofKey(c.Keys[0]).Written())
		_ = db.hook.exec(ctx, pipe, reply, set, waited) // the results hold their errors
		if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
			continue // send the text to a new master
		}
		if err := reply.Err(); err != nil {
			return reply, err
		}
		if err := set.Err(); err != nil {
			return reply, errors.Join(retwis.ErrNotReplicated, err)
		}
		return reply, Replicated(waited)
	}
}

// waitForAll adds commands to a pipeline that wait until a replica has all writes of the master up to now.
// WAIT covers the last write of its own connection and everything before it, so there must be a write: key. Only up to Redis 7.0 it also
// covers what was there when a command of the connection found nothing to write.
func (db *DB) waitForAll(ctx context.Context, pipe redis.Pipeliner, key string) (set *redis.StatusCmd, waited *redis.Cmd) {
	set = pipe.Set(ctx, key, "", time.Second)
	return set, pipe.Do(ctx, "WAIT", 1, (db.options.Timeout / 3).Milliseconds())
}

// ReplicaTimeout bounds the wait for replicas after bulk writes, and before records are delivered. It is longer than a
// failover takes.
const ReplicaTimeout = 30 * time.Second

// TrimTimeout bounds the wait for replicas before entries leave an outbox. It is longer than [ReplicaTimeout]: entries
// that were delivered without a replica stay in the outbox for as long as a failover takes, which may lose the deliveries.
const TrimTimeout = 2 * ReplicaTimeout

// Durably calls write, which may write to any partition. Then it waits until a replica of each master that
// has replicas has the writes.
func (db *DB) Durably(ctx context.Context, write func() error) error {
	if db.replicas == nil {
		return write()
	}
	// The masters are determined before the writes. If another master takes over during the writes, some
	// may be lost, and the wait on the old master fails.
	keys := map[*redis.Client]string{}
	for _, p := range db.partitions {
		master, err := db.replicas.client.MasterForKey(ctx, p.Written())
		if err != nil {
			return fmt.Errorf("find the master of partition %d: %w", p.Number, err)
		}
		keys[master] = p.Written()
	}
	if err := write(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for master, key := range keys {
		group.Go(func() error { return db.awaitReplica(ctx, master, key) })
	}
	return group.Wait()
}

// awaitReplica waits until a replica of a master has all of its writes. It writes to key, which the master
// must hold.
func (db *DB) awaitReplica(ctx context.Context, master *redis.Client, key string) error {
	for began := time.Now(); time.Since(began) < ReplicaTimeout; {
		now, n, err := db.replicas.of(ctx, key)
		if err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if now == master && n == 0 {
			return nil
		}
		pipe := master.Pipeline()
		set, waited := db.waitForAll(ctx, pipe, key)
		_ = db.hook.exec(ctx, pipe, set, waited) // both results hold their errors
		if err := errors.Join(set.Err(), waited.Err()); err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if n, err := waited.Int(); err == nil && n > 0 {
			return nil
		}
	}
	return retwis.ErrNotReplicated
}
