package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Leases distributes the outboxes among workers.
type Leases struct{ core }

// FreeLeases returns the outboxes among outboxIDs whose lease no worker holds. If it returns an error, it omits the
// outboxes that it could not read.
func (s *Leases) FreeLeases(ctx context.Context, outboxIDs []int) (free []int, err error) {
	calls := make([]rdb.Call, len(outboxIDs))
	for i, id := range outboxIDs {
		calls[i] = rdb.Call{Script: script.LeaseHolder, Keys: []string{s.db.Partition(id).Lease()}}
	}
	for i, reply := range s.db.DoAll(ctx, calls) {
		holder, e := reply.Text()
		switch {
		case e != nil:
			err = fmt.Errorf("read the lease of outbox %d: %w", outboxIDs[i], e)
		case holder == "":
			free = append(free, outboxIDs[i])
		}
	}
	return free, err
}

// AcquireLeases acquires or renews the leases of outboxes for a worker. Leases only distribute the work: delivery stays
// correct if two workers serve one outbox.
func (s *Leases) AcquireLeases(ctx context.Context, outboxIDs []int, worker string, ttl time.Duration) []outbox.Lease {
	calls := make([]rdb.Call, len(outboxIDs))
	for i, id := range outboxIDs {
		calls[i] = rdb.Call{
			Script: script.AcquireLease, Keys: []string{s.db.Partition(id).Lease()}, Args: []any{worker, ttl.Milliseconds()},
		}
	}
	leases := make([]outbox.Lease, len(calls))
	for i, reply := range s.db.DoAll(ctx, calls) {
		held, err := reply.Bool()
		if err != nil {
			err = fmt.Errorf("acquire the lease of outbox %d: %w", outboxIDs[i], err)
		}
		leases[i] = outbox.Lease{Held: held, Err: err}
	}
	return leases
}

// ReleaseLease releases the lease of an outbox if the worker holds it.
func (s *Leases) ReleaseLease(ctx context.Context, outboxID int, worker string) error {
	err := s.db.Do(ctx, rdb.Call{Script: script.ReleaseLease, Keys: []string{s.db.Partition(outboxID).Lease()}, Args: []any{worker}}).Err()
	if err != nil {
		return fmt.Errorf("release the lease of outbox %d: %w", outboxID, err)
	}
	return nil
}

// RegisterWorker registers a worker for ttl and returns the number of registered workers.
func (s *Leases) RegisterWorker(ctx context.Context, worker string, ttl time.Duration) (int, error) {
	now := time.Now()
	pipe := s.db.Client.Pipeline()
	pipe.ZAdd(ctx, rdb.WorkersKey, redis.Z{Score: float64(now.Add(ttl).UnixMilli()), Member: worker})
	pipe.ZRemRangeByScore(ctx, rdb.WorkersKey, "-inf", strconv.FormatInt(now.UnixMilli(), 10))
	count := pipe.ZCard(ctx, rdb.WorkersKey)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("register a worker: %w", err)
	}
	return int(count.Val()), nil
}

// UnregisterWorker removes the registration of a worker.
func (s *Leases) UnregisterWorker(ctx context.Context, worker string) error {
	if err := s.db.Client.ZRem(ctx, rdb.WorkersKey, worker).Err(); err != nil {
		return fmt.Errorf("unregister a worker: %w", err)
	}
	return nil
}
