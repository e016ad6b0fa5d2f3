// Package store keeps accounts, follows, lists of users, posts and timelines in Redis. Everything that a
// reader needs lives in the reader's partition, which is one slot of a Redis Cluster, so that each step of
// the engine is one atomic script on one node.
package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/store/rdb"
)

// Options say which database to open, and its bounds. Zero values take the defaults.
type Options struct {
	URL        string // one URL, or several of one cluster, separated by commas
	Partitions int    // read when the database is created; 0 accepts what it has, or takes 16
	Existing   bool   // refuse a Redis without a database, instead of creating one
	Log        *slog.Logger

	HomeCap     int           // entries a home keeps, 1000
	ProfileCap  int           // posts a profile keeps, 20 000
	FollowLimit int           // people one may follow, 5000
	PullAbove   int           // followers above which an author's posts are put on homes when these are read, 1 000 000
	IdleHomeAge time.Duration // after which a home that nobody reads is given up until somebody does, in whole days, 30 days; never when it is negative
	Slack       int           // entries a list may exceed its cap by before it is trimmed, 100

	Chunk        int // followers served by one call, 500
	CheckedChunk int // followers served by one call that looks into their lists, 50
	OutboxLimit  int // entries that may wait in an outbox, 100 000
	Removals     int // deletions a partition remembers, 10 000
	NewestUsers  int // accounts a partition lists as its newest, 1000

	SessionTTL        time.Duration // a session lapses when unused for this long, 30 days
	SessionRenewal    time.Duration // how often use of a session is written down, 10 min
	SessionsPerUser   int           // 100
	IdempotencyTTL    time.Duration // 24 h
	DocumentTTL       time.Duration // a document that clients name by its hash lapses when unused for this long, 7 days
	Documents         int           // of that kind, in all partitions, 4096
	PendingGrace      time.Duration // after which an unfinished registration is finished by the worker, 30 s
	DeletedAccountTTL time.Duration // how long the author of a post under way to a reader can be told after the account ended, 1 min

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
	last(&o.DeletedAccountTTL, time.Minute)
	last(&o.Timeout, 3*time.Second)
	set(&o.PoolSize, 64)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// connection returns the options of the connection.
func (o Options) connection() rdb.Options {
	return rdb.Options{
		URL: o.URL, Partitions: o.Partitions, Existing: o.Existing, Log: o.Log,
		Timeout: o.Timeout, PoolSize: o.PoolSize, Metrics: o.Metrics,
	}
}

// Store is an open database. Each field is a handle on one part of it, whose methods may be called
// concurrently.
type Store struct {
	Accounts  *Accounts
	Sessions  *Sessions
	Follows   *Follows
	Lists     *Lists
	Posts     *Posts
	Timelines *Timelines
	Live      *Live
	Outbox    *Outbox
	Tasks     *Tasks
	Sweeps    *Sweeps
	Limits    *Limits
	Documents *Documents
	Health    *Health

	core
}

// core is what all handles share.
type core struct {
	db      *rdb.DB
	options Options
	metrics *metrics
	log     *slog.Logger
}

// Open connects to a database and creates it if there is none and the options allow it. It refuses what would
// lose data or fail later: a Redis older than 7, one that evicts keys, a database of another schema version or
// partition count. The error says what to change.
func Open(ctx context.Context, options Options) (*Store, error) {
	o := options.withDefaults()
	db, err := rdb.Open(ctx, o.connection())
	if err != nil {
		return nil, err
	}
	s := on(db, o)
	if o.Metrics != nil {
		if err := o.Metrics.Register(newCollector(s)); err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return s, nil
}

// Connect connects to a Redis for a diagnosis: it checks nothing and creates nothing. Until
// [rdb.DB.UsePartitions] is called, the handles may not be used.
func Connect(ctx context.Context, options Options) (*Store, error) {
	options.Metrics = nil
	o := options.withDefaults()
	db, err := rdb.Connect(ctx, o.connection())
	if err != nil {
		return nil, err
	}
	return on(db, o), nil
}

// on makes the handles of a database.
func on(db *rdb.DB, o Options) *Store {
	c := core{db: db, options: o, metrics: newMetrics(o.Metrics), log: o.Log}
	s := &Store{core: c}
	s.Accounts = &Accounts{core: c}
	s.Sessions = &Sessions{core: c}
	s.Follows = &Follows{core: c, accounts: s.Accounts, longScans: make(chan struct{}, maxLongScans)}
	s.Lists = &Lists{core: c, follows: s.Follows}
	s.Posts = &Posts{core: c, accounts: s.Accounts}
	s.Timelines = &Timelines{core: c, posts: s.Posts}
	s.Live = &Live{core: c, posts: s.Posts, timelines: s.Timelines}
	s.Outbox = &Outbox{core: c, follows: s.Follows}
	s.Tasks = &Tasks{core: c, accounts: s.Accounts, follows: s.Follows, timelines: s.Timelines}
	s.Sweeps = &Sweeps{core: c}
	s.Limits = &Limits{core: c}
	s.Documents = &Documents{core: c}
	s.Health = &Health{core: c}
	return s
}

// Close ends all connections.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the connection, for packages that inspect or fill the database.
func (s *Store) DB() *rdb.DB { return s.db }

// Options returns the options of the store, with defaults.
func (s *Store) Options() Options { return s.options }
