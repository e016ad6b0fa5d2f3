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

// Limits count actions against budgets.
type Limits struct{ core }

// networkTTL is how long a network is known for which somebody has logged in from it.
const networkTTL = 30 * day

// Spend counts actions, in one exchange with each Redis that has some of the budgets. The
// balances are in the order of the charges. The error is why some of them are unknown; the
// others are good. A charge whose reply is lost may be counted twice.
func (s *Limits) Spend(ctx context.Context, charges ...ratelimit.Request) ([]ratelimit.Result, error) {
	calls := make([]rdb.Call, len(charges))
	for i, c := range charges {
		calls[i] = s.spendCall(c)
	}
	balances := make([]ratelimit.Result, len(charges))
	failures := make([]error, len(charges))
	for i, reply := range s.db.DoAll(ctx, calls) {
		var err error
		if balances[i], err = parseResult(reply); err != nil {
			failures[i] = fmt.Errorf("charge %s: %w", charges[i].Action, err)
		}
	}
	return balances, errors.Join(failures...)
}

func (s *Limits) spendCall(c ratelimit.Request) rdb.Call {
	p := s.partitionOf(c.Key)
	keys := []string{p.Budget(c.Action, c.Key)}
	if c.Familiar.IsValid() {
		keys = append(keys, p.Familiar(c.Key.Name, c.Familiar))
	}
	takes := c.Cost.Microseconds()
	if takes == 0 && c.Cost > 0 {
		takes = 1
	}
	return rdb.Call{Script: script.Spend, Keys: keys, Args: []any{takes, c.Rate.Period.Microseconds(), c.Done}}
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

// RememberNetwork notes that somebody has logged in with a name from a network.
func (s *Limits) RememberNetwork(ctx context.Context, name string, from netip.Prefix) error {
	key := s.partitionOf(ratelimit.Key{Name: name}).Familiar(name, from)
	if err := s.db.Client.Set(ctx, key, "", networkTTL).Err(); err != nil {
		return fmt.Errorf("note a familiar network: %w", err)
	}
	return nil
}

// partitionOf returns the partition that holds the budgets of one.
func (s *Limits) partitionOf(who ratelimit.Key) rdb.Partition {
	if who.User != 0 {
		return s.db.OfUser(who.User)
	}
	if who.Name != "" {
		return s.db.OfName(who.Name)
	}
	h := fnv.New32a()
	_, _ = h.Write(who.Network.Addr().AsSlice()) // never fails, by its contract
	return s.db.Partition(int(h.Sum32() % uint32(len(s.db.Partitions()))))
}
