package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	"retwis/internal/retwis"
)

// familiarAge is how long a network is known for which somebody has logged in from it.
const familiarAge = 30 * day

// Charge counts actions, in one exchange with each Redis that has some of the budgets. The
// balances are in the order of the charges. The error is why some of them are unknown; the
// others are good. A charge whose reply is lost may be counted twice.
func (s *Store) Charge(ctx context.Context, charges ...retwis.Charge) ([]retwis.Balance, error) {
	calls := make([]call, len(charges))
	for i, c := range charges {
		p := s.ofHolder(c.Who)
		keys := []string{p.budget(c.Action, c.Who)}
		if c.Familiar.IsValid() {
			keys = append(keys, p.familiar(c.Who.Name, c.Familiar))
		}
		takes := c.Time.Microseconds()
		if takes == 0 && c.Time > 0 {
			takes = 1
		}
		calls[i] = call{s.scripts.charge, keys, []any{takes, c.Rate.Period.Microseconds(), c.Done}}
	}
	balances := make([]retwis.Balance, len(charges))
	var failed error
	for i, reply := range s.doAll(ctx, calls) {
		found, err := reply.Int64Slice()
		if err == nil && len(found) != 2 {
			err = fmt.Errorf("%d numbers", len(found))
		}
		if err != nil {
			balances[i].Unknown = true
			failed = errors.Join(failed, fmt.Errorf("charge %s: %w", charges[i].Action, err))
			continue
		}
		balances[i] = retwis.Balance{Refused: found[0] == 1, Used: time.Duration(found[1]) * time.Microsecond}
	}
	return balances, failed
}

// Familiarize notes that somebody has logged in with a name from a network.
func (s *Store) Familiarize(ctx context.Context, name string, from netip.Prefix) error {
	key := s.ofHolder(retwis.Holder{Name: name}).familiar(name, from)
	if err := s.client.Set(ctx, key, "", familiarAge).Err(); err != nil {
		return fmt.Errorf("note a familiar network: %w", err)
	}
	return nil
}

// ofHolder returns the partition that holds the budgets of one.
func (s *Store) ofHolder(who retwis.Holder) partition {
	if who.User != 0 {
		return s.of(who.User)
	}
	if who.Name != "" {
		return s.ofName(who.Name)
	}
	h := fnv.New32a()
	_, _ = h.Write(who.Network.Addr().AsSlice()) // never fails, by its contract
	return s.partitions[int(h.Sum32()%uint32(len(s.partitions)))]
}
