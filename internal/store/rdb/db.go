// Package rdb is how the store reaches Redis: connections and replicas, the keys of the database and its
// partitions, scripts, subscriptions, and what is measured and traced of all that. It knows no operation of
// the service.
package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/store/script"
)

// SchemaVersion is the version of the layout in keys.go. A database of another version is refused.
const SchemaVersion = 3

// DefaultPartitions is the number of partitions of a new database when the options name none.
const DefaultPartitions = 16

// Options say which database to open. Timeout, PoolSize and Log are required.
type Options struct {
	URL        string // one URL, or several of one cluster, separated by commas
	Partitions int    // read when the database is created; 0 accepts what it has
	Existing   bool   // refuse a Redis without a database, instead of creating one
	Log        *slog.Logger

	Timeout  time.Duration // of one exchange with Redis
	PoolSize int           // connections to each Redis node

	Metrics prometheus.Registerer // where to register metrics; nil registers none
}

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	Client   redis.UniversalClient // for commands that return at once
	Blocking redis.UniversalClient // for commands that wait, so that they delay no other
	Publish  string                // PUBLISH, or SPUBLISH on a cluster

	options    Options
	log        *slog.Logger
	replicas   *replicas // nil for a single server
	partitions []Partition
	scripts    map[script.Name]*redis.Script
	hook       *hook
}

// Open connects to a database and creates it if there is none and options allow it. It refuses what would
// lose data or fail later: a Redis older than 7, one that evicts keys, a database of another schema version
// or partition count. The error says what to change.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Partitions != 0 && !validPartitions(o.Partitions) {
		return nil, fmt.Errorf("%d partitions: choose a power of two from 1 to 512", o.Partitions)
	}
	db, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// Connect connects to a Redis without checking it or reading the database. Until [DB.UsePartitions] is
// called, only methods that name no partition may be used.
func Connect(ctx context.Context, o Options) (*DB, error) {
	scripts, err := script.Load()
	if err != nil {
		return nil, err
	}
	db := &DB{options: o, log: o.Log, scripts: scripts, Publish: "PUBLISH"}
	db.hook = newHook(scripts, newMetrics(o.Metrics))
	if err := db.connect(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Close ends all connections.
func (db *DB) Close() error {
	err := db.Client.Close()
	if e := db.Blocking.Close(); err == nil {
		err = e
	}
	return err
}

// Ping reports whether every master answers.
func (db *DB) Ping(ctx context.Context) error {
	err := db.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() })
	if err != nil {
		return fmt.Errorf("ping Redis: %w", err)
	}
	return nil
}

// ForEachMaster calls f for every node that takes writes, concurrently on a cluster.
func (db *DB) ForEachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	switch client := db.Client.(type) {
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, client)
	default:
		return fmt.Errorf("a client of type %T", client)
	}
}

// Masters returns the nodes that take writes, in any order.
func (db *DB) Masters(ctx context.Context) ([]*redis.Client, error) {
	var mu sync.Mutex
	var all []*redis.Client
	err := db.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, node)
		return nil
	})
	return all, err
}

// ScanStep is about how many keys a server looks at in one step of a scan.
const ScanStep = 1000

// Log returns the logger of the options.
func (db *DB) Log() *slog.Logger { return db.log }

// Timeout returns the time that one exchange may take.
func (db *DB) Timeout() time.Duration { return db.options.Timeout }

func (db *DB) prepare(ctx context.Context) error {
	if err := db.checkServers(ctx); err != nil {
		return err
	}
	meta, err := db.readMeta(ctx)
	if err != nil {
		return fmt.Errorf("read the description of the database: %w", err)
	}
	if meta == nil && db.options.Existing {
		return fmt.Errorf("there is no database at %s: give the URL of the Redis that the service runs on", redacted(db.options.URL))
	}
	if meta == nil {
		wanted := db.options.Partitions
		if wanted == 0 {
			wanted = DefaultPartitions
		}
		meta, err = db.Do(ctx, Call{script.OpenDatabase, []string{MetaKey}, []any{SchemaVersion, wanted}}).StringSlice()
		if err != nil {
			return fmt.Errorf("create the database: %w", err)
		}
	}
	has, err := CheckMeta(meta[0], meta[1], db.options.Partitions)
	if err != nil {
		return err
	}
	db.UsePartitions(has)
	return nil
}

// UsePartitions sets the number of partitions of the database.
func (db *DB) UsePartitions(n int) { db.partitions = NewPartitions(n) }

// readMeta returns the schema version and the partition count of the database, nil if there is none. It
// writes nothing: a Redis that is full can still be read.
func (db *DB) readMeta(ctx context.Context) ([]string, error) {
	fields, err := db.Client.HMGet(ctx, MetaKey, "schema", "partitions").Result()
	if err != nil || fields[0] == nil && fields[1] == nil {
		return nil, err
	}
	return []string{Text(fields[0]), Text(fields[1])}, nil
}

// CheckMeta returns the partition count of a database, or why the database cannot be used with a wanted
// count; 0 accepts what it has.
func CheckMeta(schema, partitions string, wanted int) (int, error) {
	if schema != strconv.Itoa(SchemaVersion) {
		return 0, fmt.Errorf("the database has schema version %s, this program works with %d: use the program that made it, or an empty Redis", schema, SchemaVersion)
	}
	has, err := strconv.Atoi(partitions)
	if err != nil || !validPartitions(has) {
		return 0, fmt.Errorf("%s says %q partitions: that is no database of this program", MetaKey, partitions)
	}
	if wanted != 0 && has != wanted {
		return 0, fmt.Errorf("the database has %d partitions, the configuration says %d: the number is fixed when a database is created, set RETWIS_PARTITIONS to %d", has, wanted, has)
	}
	return has, nil
}

func validPartitions(n int) bool { return n >= 1 && n <= 512 && n&(n-1) == 0 }
