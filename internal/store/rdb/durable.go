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

// DoDurably runs a script and, where its master has replicas, waits until one of them has
// what was written.
func (db *DB) DoDurably(ctx context.Context, c Call) (*redis.Cmd, error) {
	if db.replicas == nil {
		reply := db.Do(ctx, c)
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
		var master *redis.Client
		var n int
		if master, n, err = db.replicas.of(ctx, c.Keys[0]); err != nil {
			continue
		}
		if n == 0 {
			reply := db.Do(ctx, c)
			return reply, reply.Err()
		}
		var reply *redis.Cmd
		if reply, err = db.doAndWait(ctx, master, c); err == nil || errors.Is(err, retwis.ErrNotReplicated) || Answered(err) {
			return reply, err
		}
	}
	return nil, err
}

// doAndWait runs a script and WAIT on one connection to the master of the script's keys:
// WAIT is about what its own connection wrote.
func (db *DB) doAndWait(ctx context.Context, master *redis.Client, c Call) (*redis.Cmd, error) {
	pipe := master.Pipeline()
	for run := db.program(c).EvalSha; ; run = db.program(c).Eval {
		reply := run(ctx, pipe, c.Keys, c.Args...)
		waited := db.wait(ctx, pipe)
		_ = db.hook.exec(ctx, pipe, reply, waited) // both results hold their own errors
		if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
			continue // a new master is sent the text
		}
		if err := reply.Err(); err != nil {
			return reply, err
		}
		return reply, Replicated(waited)
	}
}

// wait waits until a replica has what comes before it in a pipeline.
func (db *DB) wait(ctx context.Context, pipe redis.Pipeliner) *redis.Cmd {
	return pipe.Do(ctx, "WAIT", 1, (db.options.Timeout / 3).Milliseconds())
}

// waitForAll waits until a replica has all that was written to a master by now. WAIT is about
// what its own connection wrote last, and all that came before: so it writes to a key there.
func (db *DB) waitForAll(ctx context.Context, pipe redis.Pipeliner, key string) (set *redis.StatusCmd, waited *redis.Cmd) {
	set = pipe.Set(ctx, key, "", time.Second)
	return set, db.wait(ctx, pipe)
}

// replicaTimeout is how long replicas may take to have what was written at once.
const replicaTimeout = 30 * time.Second

// Durably runs what writes to any partitions, and waits until replicas have what it wrote,
// where masters have replicas.
func (db *DB) Durably(ctx context.Context, write func() error) error {
	if db.replicas == nil {
		return write()
	}
	// The masters of now are asked in the end: where another one has taken over meanwhile,
	// something may be lost.
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

// awaitReplica waits until a replica of a master has all that was written there. The key is
// one of the master's, to write to.
func (db *DB) awaitReplica(ctx context.Context, master *redis.Client, key string) error {
	for began := time.Now(); time.Since(began) < replicaTimeout; {
		now, n, err := db.replicas.of(ctx, key)
		if err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if now == master && n == 0 {
			return nil
		}
		pipe := master.Pipeline()
		set, waited := db.waitForAll(ctx, pipe, key)
		_ = db.hook.exec(ctx, pipe, set, waited) // both results hold their own errors
		if err := errors.Join(set.Err(), waited.Err()); err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if n, err := waited.Int(); err == nil && n > 0 {
			return nil
		}
	}
	return retwis.ErrNotReplicated
}
