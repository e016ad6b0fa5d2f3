package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// demoField is the field of [rdb.MetaKey] that marks a demo database.
const demoField = "demo"

// MarkAsDemo marks an empty database as a demo database, and reports whether it is one now. With force it also marks a
// database that holds other data.
func (s *Importer) MarkAsDemo(ctx context.Context, force bool) (bool, error) {
	is, err := s.db.Client.HExists(ctx, rdb.MetaKey, demoField).Result()
	if err != nil {
		return false, fmt.Errorf("read the description of the database: %w", err)
	}
	if is {
		return true, nil
	}
	if !force {
		empty, err := s.empty(ctx)
		if err != nil || !empty {
			return false, err
		}
	}
	if err := s.db.Client.HSet(ctx, rdb.MetaKey, demoField, 1).Err(); err != nil {
		return false, fmt.Errorf("write the description of the database: %w", err)
	}
	return true, nil
}

var errHoldsData = errors.New("the database holds data")

// empty reports whether the Redis has neither accounts nor keys of other programs.
func (s *Importer) empty(ctx context.Context) (bool, error) {
	scan := func(ctx context.Context, node *redis.Client) error {
		var cursor uint64
		for {
			keys, next, err := node.Scan(ctx, cursor, "*", rdb.ScanStep).Result()
			if err != nil {
				return fmt.Errorf("scan the keys: %w", err)
			}
			for _, key := range keys {
				if !s.allowedInEmpty(key) {
					return errHoldsData
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	err := s.db.ForEachMaster(ctx, scan)
	if errors.Is(err, errHoldsData) {
		return false, nil
	}
	return err == nil, err
}

// allowedInEmpty reports whether a key may exist before the first registration.
func (s *Importer) allowedInEmpty(key string) bool {
	if slices.Contains([]string{rdb.MetaKey, rdb.WorkersKey, rdb.ProcessesKey, rdb.SweepKey}, key) {
		return true
	}
	for _, p := range s.db.Partitions() {
		if strings.HasPrefix(key, p.Tag+":") {
			return !strings.HasPrefix(key, p.Prefix(rdb.AccountKeys))
		}
	}
	return false
}
