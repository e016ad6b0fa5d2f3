// Package store keeps users, posts, follows and timelines in Redis. Everything a reader
// needs lives in the reader's partition, which is one slot of a Redis Cluster, so that
// each step of the engine is one atomic script on one node.
package store

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"
)

// schemaVersion is the version of the layout in keys.go. A database of another one is
// refused.
const schemaVersion = 2

// Options say which database to open, and its bounds. Zero values take the defaults.
type Options struct {
	URL        string // one URL, or several of one cluster, separated by commas
	Partitions int    // read when the database is created; 0 takes what it has, or 16
	Existing   bool   // refuse a Redis without a database, instead of creating one
	Log        *slog.Logger

	HomeCap     int           // entries a home keeps, 1000
	ProfileCap  int           // posts a profile keeps, 20 000
	FollowLimit int           // people one may follow, 5000
	PullAbove   int           // followers above which an author's posts are put on homes when these are read, 1 000 000
	IdleHomeAge time.Duration // after which a home that nobody reads is given up until somebody does, in whole days, 30 days; never when it is negative
	Slack       int           // entries a list may exceed its cap by before it is trimmed, 100

	Chunk        int           // followers served by one call, 500
	CheckedChunk int           // followers served by one call that looks into their lists, 50
	SuspectAge   time.Duration // posts older than this are looked for before they are pushed, 5 min
	MergeMark    time.Duration // how long fan-out looks into a list that was merged into, 10 min; above SuspectAge
	OutboxLimit  int           // entries that may wait in an outbox, 100 000
	Removals     int           // deletions a partition remembers, 10 000
	NewestUsers  int           // accounts a partition lists as its newest, 1000

	SessionTTL      time.Duration // a session lapses when unused for this long, 30 days
	SessionRenewal  time.Duration // how often use of a session is written down, 10 min
	SessionsPerUser int           // 100
	IdempotencyTTL  time.Duration // 24 h
	DocumentTTL     time.Duration // a document that clients name by its hash lapses when unused for this long, 7 days
	Documents       int           // of that kind, in all partitions, 4096
	PendingGrace    time.Duration // after which an unfinished registration is finished by the worker, 30 s
	GoneGrace       time.Duration // how long the author of a post under way to a reader can be told after the account ended, 1 min

	Timeout  time.Duration // of one exchange with Redis, 3 s
	PoolSize int           // connections to each Redis node, 64

	Metrics prometheus.Registerer // where to register those of the store; nil nowhere
}

func (o Options) withDefaults() Options {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	last := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&o.HomeCap, 1000)
	set(&o.ProfileCap, 20_000)
	set(&o.FollowLimit, 5000)
	set(&o.PullAbove, 1_000_000)
	set(&o.Slack, 100)
	set(&o.Chunk, 500)
	set(&o.CheckedChunk, 50)
	last(&o.SuspectAge, 5*time.Minute)
	last(&o.MergeMark, 10*time.Minute)
	set(&o.OutboxLimit, 100_000)
	set(&o.Removals, 10_000)
	set(&o.NewestUsers, 1000)
	last(&o.IdleHomeAge, 30*day)
	last(&o.SessionTTL, 30*day)
	last(&o.SessionRenewal, 10*time.Minute)
	set(&o.SessionsPerUser, 100)
	last(&o.IdempotencyTTL, 24*time.Hour)
	last(&o.DocumentTTL, 7*day)
	set(&o.Documents, 4096)
	last(&o.PendingGrace, 30*time.Second)
	last(&o.GoneGrace, time.Minute)
	last(&o.Timeout, 3*time.Second)
	set(&o.PoolSize, 64)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Store is an open database. Its methods may be used by many goroutines at once.
type Store struct {
	authors    authorCache
	options    Options
	log        *slog.Logger
	client     redis.UniversalClient // for commands that return at once
	blocking   redis.UniversalClient // for those that wait, so that they hold up nobody
	replicas   *replicas             // nil where there is one Redis
	publish    string                // PUBLISH, or SPUBLISH on a cluster
	partitions []partition
	scripts    scripts
	longWalks  chan struct{}      // holds one for each walk over large sets
	rebuilds   singleflight.Group // of homes
	metrics    *metrics
	observer   *observer
	backlogs   backlogs
	pubSub     goodNews
}

// Open connects to a database, creates it where there is none and that may be, and refuses what would
// lose data or break later: a Redis older than 7, one that evicts keys, a database of
// another schema version or partition count. The error says what to change.
func Open(ctx context.Context, options Options) (*Store, error) {
	o := options.withDefaults()
	if o.Partitions != 0 && !validPartitions(o.Partitions) {
		return nil, fmt.Errorf("%d partitions: choose a power of two from 1 to 512", o.Partitions)
	}
	s := &Store{
		options: o, log: o.Log, scripts: loadScripts(), publish: "PUBLISH", longWalks: make(chan struct{}, longWalks),
		metrics: newMetrics(o.Metrics),
	}
	s.observer = newObserver(s.scripts, s.metrics)
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	if o.Metrics != nil {
		if err := o.Metrics.Register(newCollector(s)); err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() error {
	err := s.client.Close()
	if e := s.blocking.Close(); err == nil {
		err = e
	}
	return err
}

// Ping reports whether every master answers.
func (s *Store) Ping(ctx context.Context) error {
	ping := func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() }
	var err error
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, ping)
	} else {
		err = s.client.Ping(ctx).Err()
	}
	if err != nil {
		return fmt.Errorf("ping Redis: %w", err)
	}
	return nil
}

func (s *Store) prepare(ctx context.Context) error {
	if err := s.inspect(ctx); err != nil {
		return err
	}
	meta, err := s.describe(ctx)
	if err != nil {
		return fmt.Errorf("read the description of the database: %w", err)
	}
	if meta == nil && s.options.Existing {
		return fmt.Errorf("there is no database at %s: give the URL of the Redis that the service runs on", redacted(s.options.URL))
	}
	if meta == nil {
		wanted := s.options.Partitions
		if wanted == 0 {
			wanted = 16
		}
		meta, err = s.do(ctx, call{s.scripts.openDatabase, []string{metaKey}, []any{schemaVersion, wanted}}).StringSlice()
		if err != nil {
			return fmt.Errorf("create the database: %w", err)
		}
	}
	has, err := checkMeta(meta[0], meta[1], s.options.Partitions)
	if err != nil {
		return err
	}
	s.partitions = partitions(has)
	return nil
}

// describe returns schema version and partitions of the database, nil where there is none.
// It writes nothing: a Redis that is full can still be read.
func (s *Store) describe(ctx context.Context) ([]string, error) {
	fields, err := s.client.HMGet(ctx, metaKey, "schema", "partitions").Result()
	if err != nil || fields[0] == nil && fields[1] == nil {
		return nil, err
	}
	meta := make([]string, len(fields))
	for i, field := range fields {
		meta[i], _ = field.(string) // a description without one of them is none of ours
	}
	return meta, nil
}

// checkMeta returns the partitions of a database, or why it cannot be used with a number
// of them; 0 takes what it has.
func checkMeta(schema, partitions string, wanted int) (int, error) {
	if schema != strconv.Itoa(schemaVersion) {
		return 0, fmt.Errorf("the database has schema version %s, this program works with %d: use the program that made it, or an empty Redis", schema, schemaVersion)
	}
	has, err := strconv.Atoi(partitions)
	if err != nil || !validPartitions(has) {
		return 0, fmt.Errorf("%s says %q partitions: that is no database of this program", metaKey, partitions)
	}
	if wanted != 0 && has != wanted {
		return 0, fmt.Errorf("the database has %d partitions, the configuration says %d: the number is fixed when a database is created, set RETWIS_PARTITIONS to %d", has, wanted, has)
	}
	return has, nil
}

func validPartitions(n int) bool { return n >= 1 && n <= 512 && n&(n-1) == 0 }
