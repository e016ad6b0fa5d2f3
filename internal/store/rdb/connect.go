package rdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// connect creates the clients. A single URL of a node of a cluster connects to the cluster.
func (db *DB) connect(ctx context.Context) error {
	nodes, err := parseURLs(db.options.URL)
	if err != nil {
		return err
	}
	if len(nodes) == 1 {
		single := db.single(nodes[0], db.options.PoolSize)
		enabled, err := clusterEnabled(ctx, single)
		if err != nil {
			_ = single.Close()
			if nodes[0].DB != 0 && strings.Contains(err.Error(), "SELECT is not allowed in cluster mode") {
				return errClusterDatabase(nodes[0].DB)
			}
			return fmt.Errorf("connect to Redis at %s: %w", redacted(db.options.URL), err)
		}
		if !enabled {
			db.Client, db.Blocking = single, db.single(nodes[0], 0)
			db.Client.AddHook(db.hook)
			return nil
		}
		_ = single.Close()
	}
	for _, node := range nodes {
		if node.DB != 0 {
			return errClusterDatabase(node.DB)
		}
		if node.Network == "unix" {
			return errors.New("a cluster cannot be reached over a unix socket: use redis:// or rediss:// URLs")
		}
		if node.Username != nodes[0].Username || node.Password != nodes[0].Password || (node.TLSConfig == nil) != (nodes[0].TLSConfig == nil) {
			return errors.New("the URLs of one cluster must have the same user, password and TLS setting")
		}
	}
	cluster := db.cluster(nodes, db.options.PoolSize)
	if err := cluster.Ping(ctx).Err(); err != nil {
		_ = cluster.Close()
		return fmt.Errorf("connect to the Redis Cluster at %s: %w", redacted(db.options.URL), err)
	}
	db.Client, db.Blocking, db.Publish = cluster, db.cluster(nodes, 0), "SPUBLISH"
	db.Client.AddHook(db.hook)
	db.Client.AddHook(redirected{})
	db.replicas = newReplicas(db.cluster(nodes, db.options.PoolSize)) // what waits for a replica occupies no connection that reads need
	return nil
}

func errClusterDatabase(number int) error {
	return fmt.Errorf("the URL names database %d, and a Redis Cluster has database 0 only: remove the number from the URL", number)
}

// LogDriver redirects the log of the Redis driver from standard error to log, for the whole process. Call it
// before the first [Open].
func LogDriver(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

type driverLog struct{ log *slog.Logger }

func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
}

func parseURLs(list string) ([]*redis.Options, error) {
	var nodes []*redis.Options
	for one := range strings.SplitSeq(list, ",") {
		node, err := redis.ParseURL(strings.TrimSpace(one))
		if err != nil {
			return nil, fmt.Errorf("parse the Redis URL %s: %w (it looks like redis://user:password@host:6379/0)", redacted(one), withoutURL(err))
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// redacted returns a list of URLs without passwords, for messages.
func redacted(list string) string {
	var all []string
	for one := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil {
			all = append(all, "(not a URL)")
			continue
		}
		all = append(all, u.Redacted())
	}
	return strings.Join(all, ",")
}

// withoutURL removes the URL, which may contain a password, from an error of net/url.
func withoutURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}

// single returns a client of one server. A pool of 0 is for blocking commands.
func (db *DB) single(node *redis.Options, pool int) *redis.Client {
	o := *node
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = db.options.Timeout, db.options.Timeout, db.options.Timeout
	o.PoolSize = poolSize(pool)
	o.PoolTimeout = db.options.Timeout
	o.DisableIdentity = true
	o.MaintNotificationsConfig = noMaintenanceNotices()
	return redis.NewClient(&o)
}

func (db *DB) cluster(nodes []*redis.Options, pool int) *redis.ClusterClient {
	addresses := make([]string, len(nodes))
	for i, node := range nodes {
		addresses[i] = node.Addr
	}
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      addresses,
		Username:                   nodes[0].Username,
		Password:                   nodes[0].Password,
		TLSConfig:                  nodes[0].TLSConfig,
		ContextTimeoutEnabled:      true,
		DialTimeout:                db.options.Timeout,
		ReadTimeout:                db.options.Timeout,
		WriteTimeout:               db.options.Timeout,
		PoolSize:                   poolSize(pool),
		PoolTimeout:                db.options.Timeout,
		MaxRedirects:               5,
		ClusterStateReloadInterval: time.Second, // by default, writers fail for half a minute after a failover
		DisableIdentity:            true,
		MaintNotificationsConfig:   noMaintenanceNotices(),
	})
}

// noMaintenanceNotices disables the request for maintenance notices on each connection. Only some hosted
// servers support them.
func noMaintenanceNotices() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// poolSize returns the maximum number of connections to a node. A blocking command occupies a connection:
// one per outbox and one per channel, and there are at most 512 of each.
func poolSize(pool int) int {
	if pool == 0 {
		return 2*512 + 8
	}
	return pool
}

func clusterEnabled(ctx context.Context, client *redis.Client) (bool, error) {
	info, err := client.Info(ctx, "cluster").Result()
	if err != nil {
		if Answered(err) { // the in-process Redis has no such section
			return false, client.Ping(ctx).Err()
		}
		return false, err
	}
	return strings.Contains(info, "cluster_enabled:1"), nil
}
