package rdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrReplica is the error of a server that is a replica. It may become the master again soon.
var ErrReplica = errors.New("the server is a replica, which accepts no writes")

// checkServers refuses a server that is too old, that evicts keys, or that is a replica outside a cluster.
// It accepts a server that does not report these facts, as the in-process one and some hosted ones do not.
func (db *DB) checkServers(ctx context.Context) error {
	check := func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "server").Result()
		if err == nil {
			if err := CheckVersion(InfoField(info, "redis_version")); err != nil {
				return fmt.Errorf("%s: %w", node.Options().Addr, err)
			}
		} else if !Answered(err) {
			return fmt.Errorf("read the version of Redis: %w", err)
		}
		info, err = node.Info(ctx, "memory").Result()
		if err == nil {
			if policy := InfoField(info, "maxmemory_policy"); policy != "" && policy != "noeviction" {
				return fmt.Errorf("%s evicts keys, and so loses timelines, when memory runs out (maxmemory-policy %s): set maxmemory-policy noeviction", node.Options().Addr, policy)
			}
		} else if !Answered(err) {
			return fmt.Errorf("read the memory policy of Redis: %w", err)
		}
		return nil
	}
	switch client := db.Client.(type) {
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, check)
	case *redis.Client:
		if err := check(ctx, client); err != nil {
			return err
		}
		return checkRole(ctx, client)
	default:
		return nil
	}
}

// checkRole refuses a replica. It is not called for a cluster, where the driver finds the masters.
func checkRole(ctx context.Context, client *redis.Client) error {
	info, err := client.Info(ctx, "replication").Result()
	switch {
	case err == nil && InfoField(info, "role") == "slave":
		return fmt.Errorf("the Redis at %s: %w", client.Options().Addr, ErrReplica)
	case err != nil && !Answered(err):
		return fmt.Errorf("read the role of Redis: %w", err)
	default:
		return nil
	}
}

// CheckVersion returns an error for a Redis version below the supported one. An unknown version is accepted.
func CheckVersion(version string) error {
	if version == "" {
		return nil
	}
	major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
	if err != nil || major < 7 {
		return fmt.Errorf("redis %s is too old: use Redis 7 or later", version)
	}
	return nil
}
