package store

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
		var master *redis.Client
		var n int
		if master, n, err = s.replicas.of(ctx, c.keys[0]); err != nil {
			continue
		}
		if n == 0 {
			reply := s.do(ctx, c)
			return reply, reply.Err()
		}
		var reply *redis.Cmd
		if reply, err = s.doAndWait(ctx, master, c); err == nil || errors.Is(err, retwis.ErrNotReplicated) || answered(err) {
			return reply, err
		}
	}
	return nil, err
}

// doAndWait runs a script and WAIT on one connection to the master of the script's keys:
// WAIT is about what its own connection wrote.
func (s *Store) doAndWait(ctx context.Context, master *redis.Client, c call) (*redis.Cmd, error) {
	pipe := master.Pipeline()
	for run := c.script.EvalSha; ; run = c.script.Eval {
		reply := run(ctx, pipe, c.keys, c.args...)
		waited := s.wait(ctx, pipe)
		_ = s.observer.exec(ctx, pipe, reply, waited) // both results hold their own errors
		if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
			continue // a new master is sent the text
		}
		if err := reply.Err(); err != nil {
			return reply, err
		}
		if n, err := waited.Int(); err != nil || n < 1 {
			return reply, errors.Join(retwis.ErrNotReplicated, err)
		}
		return reply, nil
	}
}

// wait waits until a replica has what comes before it in a pipeline.
func (s *Store) wait(ctx context.Context, pipe redis.Pipeliner) *redis.Cmd {
	return pipe.Do(ctx, "WAIT", 1, (s.options.Timeout / 3).Milliseconds())
}

// waitForAll waits until a replica has all that was written to a master by now. WAIT is about
// what its own connection wrote last, and all that came before: so it writes to a key there.
func (s *Store) waitForAll(ctx context.Context, pipe redis.Pipeliner, key string) (set *redis.StatusCmd, waited *redis.Cmd) {
	set = pipe.Set(ctx, key, "", time.Second)
	return set, s.wait(ctx, pipe)
}

// bulkPatience is how long replicas may take to have what was written at once.
const bulkPatience = 30 * time.Second

// doInBulk runs what writes to any partitions, and waits until replicas have what it wrote,
// where masters have replicas.
func (s *Store) doInBulk(ctx context.Context, write func() error) error {
	if s.replicas == nil {
		return write()
	}
	// The masters of now are asked in the end: where another one has taken over meanwhile,
	// something may be lost.
	keys := map[*redis.Client]string{}
	for _, p := range s.partitions {
		master, err := s.replicas.client.MasterForKey(ctx, p.written())
		if err != nil {
			return fmt.Errorf("find the master of partition %d: %w", p.number, err)
		}
		keys[master] = p.written()
	}
	if err := write(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for master, key := range keys {
		group.Go(func() error { return s.awaitReplica(ctx, master, key) })
	}
	return group.Wait()
}

// awaitReplica waits until a replica of a master has all that was written there. The key is
// one of the master's, to write to.
func (s *Store) awaitReplica(ctx context.Context, master *redis.Client, key string) error {
	for began := time.Now(); time.Since(began) < bulkPatience; {
		now, n, err := s.replicas.of(ctx, key)
		if err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if now == master && n == 0 {
			return nil
		}
		pipe := master.Pipeline()
		set, waited := s.waitForAll(ctx, pipe, key)
		_ = s.observer.exec(ctx, pipe, set, waited) // both results hold their own errors
		if err := errors.Join(set.Err(), waited.Err()); err != nil {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
		if n, err := waited.Int(); err == nil && n > 0 {
			return nil
		}
	}
	return retwis.ErrNotReplicated
}
