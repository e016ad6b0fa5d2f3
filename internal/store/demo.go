package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// demoField of the description of a database says that its people are made up.
const demoField = "demo"

// BecomeDemo makes a database one of made-up people, and reports whether it is one now. One
// that holds anything else becomes one only where that is asked for by anyway.
func (s *Store) BecomeDemo(ctx context.Context, anyway bool) (bool, error) {
	is, err := s.client.HExists(ctx, metaKey, demoField).Result()
	if err != nil {
		return false, fmt.Errorf("read the description of the database: %w", err)
	}
	if is {
		return true, nil
	}
	if !anyway {
		empty, err := s.empty(ctx)
		if err != nil || !empty {
			return false, err
		}
	}
	if err := s.client.HSet(ctx, metaKey, demoField, 1).Err(); err != nil {
		return false, fmt.Errorf("write the description of the database: %w", err)
	}
	return true, nil
}

var errHoldsData = errors.New("it holds data")

// empty reports whether nobody has an account, and nothing of another program is there.
func (s *Store) empty(ctx context.Context) (bool, error) {
	scan := func(ctx context.Context, node *redis.Client) error {
		var cursor uint64
		for {
			keys, next, err := node.Scan(ctx, cursor, "*", scanStep).Result()
			if err != nil {
				return fmt.Errorf("scan the keys: %w", err)
			}
			for _, key := range keys {
				if !s.isOfEmpty(key) {
					return errHoldsData
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	var err error
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, scan)
	case *redis.Client:
		err = scan(ctx, client)
	default:
		err = fmt.Errorf("scan the keys: a client of type %T", client)
	}
	if errors.Is(err, errHoldsData) {
		return false, nil
	}
	return err == nil, err
}

// isOfEmpty reports whether a key may be there before anybody has registered.
func (s *Store) isOfEmpty(key string) bool {
	if slices.Contains([]string{metaKey, workersKey, sweepKey}, key) {
		return true
	}
	for _, p := range s.partitions {
		if strings.HasPrefix(key, p.tag+":") {
			return !strings.HasPrefix(key, p.users())
		}
	}
	return false
}
