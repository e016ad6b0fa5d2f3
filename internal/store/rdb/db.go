// Package rdb gives the store access to Redis: connections, replicas, keys, partitions, scripts and
// subscriptions, with their metrics and traces. It is independent of the service's operations.
package rdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/fair"
	"retwis/internal/store/script"
)

// SchemaVersion is the version of the layout in keys.go. A database of another version is refused.
const SchemaVersion = 6

// DefaultPartitions is the number of partitions of a new database when the options name none.
const DefaultPartitions = 16

// Options select the database to open. Timeout, PoolSize and Log are required.
type Options struct {
	URL        string // one URL, or several of one cluster, separated by commas
	Partitions int    // for a new database; 0 accepts the number of an existing one
	Existing   bool   // return an error if there is no database, instead of creating one
	Log        *slog.Logger

	Timeout  time.Duration // of one round trip to Redis
	PoolSize int           // connections to each Redis node

	Metrics prometheus.Registerer // where to register metrics; nil registers none
}

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	Client   redis.UniversalClient // for commands that do not block
	Blocking redis.UniversalClient // for blocking commands, which would delay others
	Publish  string                // PUBLISH, or SPUBLISH on a cluster

	options    Options
	log        *slog.Logger
	replicas   *replicas // nil for a single server
	silences   *silences
	partitions []Partition
	scripts    map[script.Name]*redis.Script
	hook       *hook
	processes  processes                 // on this Redis
	pieces     *fair.Gate[*redis.Client] // see [DB.DoInPieces]
	pace       pace                      // of pieces
	crowded    atomic.Bool               // one network caused most of many deliveries that wait
	rests      rests                     // after pieces
	tasks      taskTurns                 // see [DB.TaskTurn]
}

// Open connects to a database. It creates a missing one if the options allow it. It refuses a Redis that is
// older than 7 or evicts keys, and a database of another schema version or partition count. The error says
// what to change.
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

// Connect connects to a Redis. It neither checks the server nor reads the database. Before
// [DB.UsePartitions], call only methods that need no partition.
func Connect(ctx context.Context, o Options) (*DB, error) {
	scripts, err := script.Load()
	if err != nil {
		return nil, err
	}
	db := &DB{options: o, log: o.Log, scripts: scripts, silences: newSilences(o.Timeout), Publish: "PUBLISH", pieces: newPieceTurns()}
	db.hook = newHook(scripts, newMetrics(o.Metrics), &db.processes.operations)
	if err := db.connect(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Close closes all connections.
func (db *DB) Close() error {
	err := errors.Join(db.Client.Close(), db.Blocking.Close())
	if db.replicas != nil {
		err = errors.Join(err, db.replicas.client.Close())
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

// ForEachMaster calls f for every master, concurrently on a cluster.
func (db *DB) ForEachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	switch client := db.Client.(type) {
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, client)
	default:
		return fmt.Errorf("unsupported client type %T", client)
	}
}

// Masters returns all masters, in any order.
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

// ScanStep is the approximate number of keys that a server examines in one step of a scan.
const ScanStep = 1000

// Log returns the logger of the options.
func (db *DB) Log() *slog.Logger { return db.log }

// Timeout returns the timeout of one round trip.
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
		return fmt.Errorf("there is no database at %s: use the URL of the Redis that the service uses", redacted(db.options.URL))
	}
	if meta == nil {
		wanted := db.options.Partitions
		if wanted == 0 {
			wanted = DefaultPartitions
		}
		meta, err = db.Do(ctx, Call{Script: script.OpenDatabase, Keys: []string{MetaKey}, Args: []any{SchemaVersion, wanted}}).StringSlice()
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
// writes nothing, so that a full Redis can be opened.
func (db *DB) readMeta(ctx context.Context) ([]string, error) {
	fields, err := db.Client.HMGet(ctx, MetaKey, "schema", "partitions").Result()
	if err != nil || fields[0] == nil && fields[1] == nil {
		return nil, err
	}
	return []string{Text(fields[0]), Text(fields[1])}, nil
}

// CheckMeta returns the partition count of a database. It returns an error if the schema version or the
// count is not supported, or if the count differs from wanted, unless that is 0.
func CheckMeta(schema, partitions string, wanted int) (int, error) {
	if schema != strconv.Itoa(SchemaVersion) {
		return 0, fmt.Errorf("the database has schema version %s and this program requires %d: use the program that created it, or an empty Redis", schema, SchemaVersion)
	}
	has, err := strconv.Atoi(partitions)
	if err != nil || !validPartitions(has) {
		return 0, fmt.Errorf("%s has %q partitions: the database does not belong to this program", MetaKey, partitions)
	}
	if wanted != 0 && has != wanted {
		return 0, fmt.Errorf("the database has %d partitions and the configuration requires %d: the number cannot change after creation, set RETWIS_PARTITIONS to %d", has, wanted, has)
	}
	return has, nil
}

func validPartitions(n int) bool { return n >= 1 && n <= 512 && n&(n-1) == 0 }
