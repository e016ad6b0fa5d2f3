package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	"retwis/internal/ratelimit"

	"github.com/redis/go-redis/v9"

	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Limits stores the budgets of the rate limiter.
type Limits struct{ core }

// networkTTL is how long a network counts as familiar for a username after a login.
const networkTTL = 30 * day

// Spend counts actions in one round trip per master. Results are in the order of the requests. The error says why
// some results are unknown; the others are valid. A request whose reply is lost may be counted twice.
func (s *Limits) Spend(ctx context.Context, requests ...ratelimit.Request) ([]ratelimit.Result, error) {
	calls := make([]rdb.Call, len(requests))
	for i, c := range requests {
		calls[i] = s.spendCall(c)
	}
	results := make([]ratelimit.Result, len(requests))
	failures := make([]error, len(requests))
	for i, reply := range s.db.DoAll(ctx, calls) {
		var err error
		if results[i], err = parseResult(reply); err != nil {
			failures[i] = fmt.Errorf("count action %s: %w", requests[i].Action, err)
		}
	}
	return results, errors.Join(failures...)
}

func (s *Limits) spendCall(c ratelimit.Request) rdb.Call {
	p := s.partitionOf(c.Key)
	keys := []string{p.Budget(c.Action, c.Key)}
	if c.Familiar.IsValid() {
		keys = append(keys, p.Familiar(c.Key.Name, c.Familiar))
	}
	cost := c.Cost.Microseconds()
	if cost == 0 && c.Cost > 0 {
		cost = 1
	}
	return rdb.Call{Script: script.Spend, Keys: keys, Args: []any{cost, c.Rate.Period.Microseconds(), c.Done}}
}

func parseResult(reply *redis.Cmd) (ratelimit.Result, error) {
	found, err := reply.Int64Slice()
	if err == nil && len(found) != 2 {
		err = fmt.Errorf("%d numbers", len(found))
	}
	if err != nil {
		return ratelimit.Result{Unknown: true}, err
	}
	return ratelimit.Result{Refused: found[0] == 1, Used: time.Duration(found[1]) * time.Microsecond}, nil
}

// RememberNetwork records a login with a username from a network.
func (s *Limits) RememberNetwork(ctx context.Context, name string, from netip.Prefix) error {
	key := s.partitionOf(ratelimit.Key{Name: name}).Familiar(name, from)
	if err := s.db.Client.Set(ctx, key, "", networkTTL).Err(); err != nil {
		return fmt.Errorf("record a familiar network: %w", err)
	}
	return nil
}

// partitionOf returns the partition that holds the budgets of a key.
func (s *Limits) partitionOf(key ratelimit.Key) rdb.Partition {
	if key.User != 0 {
		return s.db.OfUser(key.User)
	}
	if key.Name != "" {
		return s.db.OfName(key.Name)
	}
	h := fnv.New32a()
	_, _ = h.Write(key.Network.Addr().AsSlice()) // never fails, by its contract
	return s.db.Partition(int(h.Sum32() % uint32(len(s.db.Partitions()))))
}
