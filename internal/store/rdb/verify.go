package rdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
)

// Record is a record of a partition that was read. It adds a command to a pipeline that reads the record again, and
// returns the command and a function that reports whether the record was found.
type Record func(context.Context, redis.Pipeliner) (cmd redis.Cmder, found func() bool)

// VerifyRecords verifies that records which were read are durable: the master of their partition has them, and, if it has
// replicas, one of them has all its writes up to now. Otherwise it returns [retwis.ErrNotReplicated]: a failover has lost
// the records, or may lose them. Once no replica of a master has confirmed a write for [ReplicaTimeout], the method no
// longer waits for its replicas. On a single server it does nothing.
func (db *DB) VerifyRecords(ctx context.Context, records map[int]Record) error {
	if db.replicas == nil || len(records) == 0 {
		return nil
	}
	groups, err := db.ByMaster(ctx, maps.Keys(records))
	if err != nil {
		return errors.Join(retwis.ErrNotReplicated, err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for master, numbers := range groups {
		group.Go(func() error { return db.verifyAt(groupCtx, master, numbers, records) })
	}
	if err := group.Wait(); err != nil {
		db.ReloadMasters(ctx) // a failover may have happened
		return errors.Join(retwis.ErrNotReplicated, err)
	}
	return nil
}

// verifyAt verifies the records of some partitions, all of one master. The commands share one connection: WAIT covers the
// writes before it, and the reads prove that the records are among these.
func (db *DB) verifyAt(ctx context.Context, master Master, numbers []int, records map[int]Record) error {
	pipe := master.Pipeline()
	var cmds []redis.Cmder
	found := map[int]func() bool{}
	for _, number := range numbers {
		cmd, is := records[number](ctx, pipe)
		cmds, found[number] = append(cmds, cmd), is
	}
	replicated, err := master.HasReplicas(ctx, db.Partition(numbers[0]))
	if err != nil {
		return err
	}
	var waited *redis.Cmd
	if replicated {
		var set *redis.StatusCmd
		set, waited = master.AwaitReplica(ctx, pipe, db.Partition(numbers[0]))
		cmds = append(cmds, set, waited)
	}
	master.Exec(ctx, pipe, cmds...)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	for number, is := range found {
		if !is() {
			return fmt.Errorf("a record of partition %d is gone", number)
		}
	}
	if waited == nil {
		return nil
	}
	return master.Confirmed(waited, ReplicaTimeout)
}

// Confirmed returns [retwis.ErrNotReplicated] unless the wait of [Master.AwaitReplica] found a replica, or no replica of
// the master has confirmed any wait for longer than limit. Callers repeat the wait until it succeeds.
func (m Master) Confirmed(waited *redis.Cmd, limit time.Duration) error {
	err := Replicated(waited)
	if m.db.silences.record(m.node.Options().Addr, err == nil) > limit {
		return nil
	}
	return err
}

// silences records the periods in which no replica of a master has confirmed a write. All waits share the periods, so
// that their limits are comparable.
type silences struct {
	now func() time.Time
	gap time.Duration // longest time between two waits of one period; nobody knows what happened in a longer one

	mu      sync.Mutex
	periods map[string]period // by the address of the master
}

// period is the time between two waits that no replica confirmed.
type period struct{ first, last time.Time }

func newSilences(timeout time.Duration) *silences {
	return &silences{now: time.Now, gap: ReplicaTimeout/2 + timeout, periods: map[string]period{}}
}

// record records the result of a wait for the replicas of a master, and returns for how long none has confirmed.
func (s *silences) record(master string, confirmed bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if confirmed {
		delete(s.periods, master)
		return 0
	}
	now := s.now()
	p, ok := s.periods[master]
	if !ok || now.Sub(p.last) > s.gap {
		p.first = now
	}
	p.last = now
	s.periods[master] = p
	return p.last.Sub(p.first)
}
