package store

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// UnfitNewest returns those whom a partition lists among its newest users and whose accounts
// are not in use.
func (s *Store) UnfitNewest(ctx context.Context, partition int) ([]retwis.UserID, error) {
	p := s.partitions[partition]
	members, err := s.client.ZRange(ctx, p.newestUsers(), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
	}
	pipe := s.client.Pipeline()
	var ids []retwis.UserID
	var states []*redis.SliceCmd
	for _, member := range members {
		id, err := retwis.ParseUserID(member)
		if err != nil {
			return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
		}
		ids = append(ids, id)
		states = append(states, pipe.HMGet(ctx, p.user(id), "state"))
	}
	if len(ids) > 0 {
		_, _ = pipe.Exec(ctx) // every state has its own error
	}
	var unfit []retwis.UserID
	for i, state := range states {
		fields, err := state.Result()
		if err != nil {
			return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
		}
		if text(fields[0]) != "active" {
			unfit = append(unfit, ids[i])
		}
	}
	return unfit, nil
}

// MendNewest lists a user among the newest of a partition, if the account is in use; else it
// takes the user off.
func (s *Store) MendNewest(ctx context.Context, partition int, id retwis.UserID) error {
	p := s.partitions[partition]
	err := s.do(ctx, call{
		s.scripts.mendNewest, []string{p.user(id), p.newestUsers()}, []any{id.String(), s.options.NewestUsers},
	}).Err()
	if err != nil {
		return fmt.Errorf("list %s among the newest users: %w", id, err)
	}
	return nil
}
