// Package store keeps accounts, follows, lists of users, posts and timelines in Redis. The timelines and follows of a
// reader are in the reader's partition, which is one slot of a Redis Cluster, so one atomic script can change them.
package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/postcache"
	"retwis/internal/store/rdb"
)

// Options select the database and set its bounds. Zero values select the defaults given in the comments.
type Options struct {
	URL        string // one URL, or several of one cluster, separated by commas
	Partitions int    // for a new database, 16; 0 accepts the number of an existing one
	Existing   bool   // return an error if there is no database, instead of creating one
	Log        *slog.Logger

	HomeCap     int           // entries of a home, 1000
	ProfileCap  int           // posts of a profile, 20 000
	ReplyCap    int           // replies of a post, 10 000
	FollowLimit int           // users that one user may follow, 5000
	LikedCap    int           // likes of a user that are listed, 20 000
	PullAbove   int           // push threshold: readers pull the posts of authors with more followers, 1 000 000
	IdleHomeAge time.Duration // age of the last read after which a home is evicted, in whole days, 30 days; negative: never
	IdleTagAge  time.Duration // age of the last new post after which a hashtag is dropped, in whole days, 90 days; negative: never
	Slack       int           // entries by which a list may exceed its cap before it is trimmed, 100

	Chunk        int // followers served by one call, 500
	CheckedChunk int // followers served by one call that searches their lists, 50
	OutboxLimit  int // entries of an outbox, 100 000
	Changes      int // changes that a partition keeps, 10 000
	NewestUsers  int // newest users that a partition keeps, 1000

	SessionTTL        time.Duration // TTL of an unused session, 30 days
	SessionRenewal    time.Duration // interval between renewals of a session in use, 10 min
	SessionsPerUser   int           // 100
	IdempotencyTTL    time.Duration // 24 h
	DocumentTTL       time.Duration // TTL of an unused document, 7 days
	Documents         int           // documents in all partitions, 4096
	LikePeriod        time.Duration // shortest time between two stored numbers of likes of a post, for each partition, 1 s
	PendingGrace      time.Duration // age after which the worker finishes a registration, 30 s
	DeletedAccountTTL time.Duration // TTL of a deleted account, so that pages already loaded can still show the author, 1 min

	Timeout  time.Duration // of one round trip to Redis, 3 s
	PoolSize int           // connections to each Redis node, 64

	Now     func() time.Time      // for the age of hashtags; time.Now
	Metrics prometheus.Registerer // where to register the metrics of the store; nil registers none
}

func (o Options) withDefaults() Options {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	setDuration := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&o.HomeCap, 1000)
	set(&o.ProfileCap, 20_000)
	set(&o.ReplyCap, 10_000)
	set(&o.FollowLimit, 5000)
	set(&o.LikedCap, 20_000)
	set(&o.PullAbove, 1_000_000)
	set(&o.Slack, 100)
	set(&o.Chunk, 500)
	set(&o.CheckedChunk, 50)
	set(&o.OutboxLimit, 100_000)
	set(&o.Changes, 10_000)
	set(&o.NewestUsers, 1000)
	setDuration(&o.IdleHomeAge, 30*day)
	setDuration(&o.IdleTagAge, 90*day)
	setDuration(&o.SessionTTL, 30*day)
	setDuration(&o.SessionRenewal, 10*time.Minute)
	set(&o.SessionsPerUser, 100)
	setDuration(&o.IdempotencyTTL, 24*time.Hour)
	setDuration(&o.DocumentTTL, 7*day)
	set(&o.Documents, 4096)
	setDuration(&o.LikePeriod, time.Second)
	setDuration(&o.PendingGrace, 30*time.Second)
	setDuration(&o.DeletedAccountTTL, time.Minute)
	setDuration(&o.Timeout, 3*time.Second)
	set(&o.PoolSize, 64)
	if o.Now == nil {
		o.Now = time.Now
	}
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

// Store is an open database. Each field is a handle on one part of it. Its methods may be called concurrently.
type Store struct {
	Accounts  *Accounts
	Sessions  *Sessions
	Follows   *Follows
	Lists     *Lists
	Posts     *Posts
	Tags      *Tags
	Likes     *Likes
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

// core holds the fields that all handles share.
type core struct {
	db      *rdb.DB
	options Options
	metrics *metrics
	log     *slog.Logger
}

// durably runs a script like [rdb.DB.DoDurably]. All that is acknowledged waits for a replica, and so do tasks: their completion is recorded afterwards,
// perhaps at another master, and a failover in between would lose the writes of a task that is recorded as done.
func (s *core) durably(ctx context.Context, c rdb.Call) *redis.Cmd {
	reply, err := s.db.DoDurably(ctx, c)
	if err != nil {
		reply = redis.NewCmd(ctx)
		reply.SetErr(err)
	}
	return reply
}

// Open connects to a database. It creates a missing one if the options allow it. It refuses a Redis that is
// older than 7 or evicts keys, and a database of another schema version or partition count. The error says
// what to change.
func Open(ctx context.Context, options Options) (*Store, error) {
	o := options.withDefaults()
	db, err := rdb.Open(ctx, o.connection())
	if err != nil {
		return nil, err
	}
	s := newStore(db, o)
	if o.Metrics != nil {
		if err := o.Metrics.Register(newCollector(s)); err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return s, nil
}

// Connect connects to a Redis for a diagnosis. It checks and creates nothing. Call [rdb.DB.UsePartitions] before
// any method of a handle.
func Connect(ctx context.Context, options Options) (*Store, error) {
	options.Metrics = nil
	o := options.withDefaults()
	db, err := rdb.Connect(ctx, o.connection())
	if err != nil {
		return nil, err
	}
	return newStore(db, o), nil
}

// newStore creates the handles of a database.
func newStore(db *rdb.DB, o Options) *Store {
	c := core{db: db, options: o, metrics: newMetrics(o.Metrics), log: o.Log}
	s := &Store{core: c}
	s.Accounts = &Accounts{core: c}
	s.Sessions = &Sessions{core: c}
	s.Follows = &Follows{core: c, accounts: s.Accounts}
	s.Lists = &Lists{core: c, follows: s.Follows}
	s.Tags = &Tags{core: c}
	s.Posts = &Posts{core: c, accounts: s.Accounts, tags: s.Tags, cache: postcache.New()}
	s.Likes = &Likes{core: c, accounts: s.Accounts, posts: s.Posts}
	s.Timelines = &Timelines{core: c, posts: s.Posts}
	s.Live = &Live{core: c, posts: s.Posts, timelines: s.Timelines}
	s.Outbox = &Outbox{core: c, Leases: &Leases{core: c}, DeadLetterQueue: &DeadLetterQueue{core: c}, Load: &Load{core: c}, follows: s.Follows}
	s.Tasks = &Tasks{core: c, accounts: s.Accounts, follows: s.Follows, timelines: s.Timelines}
	s.Sweeps = &Sweeps{core: c, tags: s.Tags}
	s.Limits = &Limits{core: c}
	s.Documents = &Documents{core: c}
	s.Health = &Health{core: c}
	return s
}

// Close closes all connections.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the connection, for packages that inspect or fill the database.
func (s *Store) DB() *rdb.DB { return s.db }

// Options returns the options of the store, with defaults.
func (s *Store) Options() Options { return s.options }
