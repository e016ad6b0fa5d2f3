package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"retwis/internal/cli"
	"retwis/internal/embedded"
	"retwis/internal/redisproc"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

const (
	inMemory   = "memory"         // the Redis URL of a Redis inside this process
	openTime   = 15 * time.Second // for Redis to answer when a database is opened
	closeRedis = 3 * time.Second  // for a child process to write its data
	giveRedis  = "set --redis-url (RETWIS_REDIS_URL) to the Redis of the service"
	seeURL     = "check that Redis is running, and that host, port, user, password and TLS of --redis-url (RETWIS_REDIS_URL) are right"
)

// database is an open database and its Redis.
type database struct {
	store *store.Store
	redis *redisServer
	log   *slog.Logger
}

// openDatabase opens the database of a Redis. Without a URL it starts a Redis.
func openDatabase(ctx context.Context, at, dataDir string, options store.Options) (*database, error) {
	redis, err := openRedis(ctx, at, dataDir, options.Log)
	if err != nil {
		return nil, err
	}
	options.URL = redis.url
	db, err := openStore(ctx, options)
	if err != nil {
		redis.close(ctx, options.Log)
		return nil, err
	}
	return &database{db, redis, options.Log}, nil
}

// openKept opens a database that is kept when the command ends. If the options require an existing one,
// it creates nothing.
func openKept(ctx context.Context, at, dataDir string, options store.Options) (*database, error) {
	if at == "" && options.Existing && !embedded.HasData(dataDir) {
		return nil, cli.Misusef("%s contains no data: set --data-dir (RETWIS_DATA_DIR) to the directory of the service, or %s",
			absolute(dataDir), giveRedis)
	}
	if at == "" {
		if _, err := redisproc.Find(ctx); err != nil && ctx.Err() == nil {
			return nil, cli.Misusef("%w: install Redis %d or later, or %s", err, redisproc.MinVersion, giveRedis)
		}
	}
	return openDatabase(ctx, at, dataDir, options)
}

// close closes all connections, and then stops a Redis that openDatabase started.
func (d *database) close(ctx context.Context) {
	_ = d.store.Close()
	d.redis.close(ctx, d.log)
}

// redisServer is the Redis of a command: an external one, or one that the command started.
type redisServer struct {
	url  string
	name string             // for display, without passwords
	own  *embedded.Instance // nil for an external Redis
	data string             // directory of the data of a child process
}

// openRedis starts a Redis unless a URL names one.
func openRedis(ctx context.Context, at, dataDir string, log *slog.Logger) (*redisServer, error) {
	if at != "" && at != inMemory {
		return &redisServer{url: at, name: withoutPasswords(at)}, nil
	}
	own, err := embedded.Start(ctx, embedded.Options{DataDir: dataDir, Log: log, Memory: at == inMemory})
	if errors.Is(err, embedded.ErrInUse) {
		return nil, fmt.Errorf("%w: stop the other process, choose another directory with --data-dir (RETWIS_DATA_DIR), "+
			"or share one Redis with --redis-url (RETWIS_REDIS_URL)", err)
	}
	if _, ofFiles := errors.AsType[*fs.PathError](err); ofFiles {
		return nil, fmt.Errorf("%w: fix the directory, or choose another one with --data-dir (RETWIS_DATA_DIR)", err)
	}
	if err != nil {
		return nil, err
	}
	r := &redisServer{url: own.URL(), own: own, name: "inside this process"}
	if !own.InProcess() {
		r.name, r.data = "a child process", absolute(dataDir)
	}
	return r, nil
}

// absolute returns an absolute path for display.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// persistence describes what happens to the data.
func (r *redisServer) persistence() string {
	switch {
	case r.own == nil:
		return "data is kept by that Redis"
	case r.own.InProcess():
		return "data is lost when the process ends"
	default:
		return "data is kept in " + r.data
	}
}

// watch fails if a Redis that this command started ends before ctx does.
func (r *redisServer) watch(ctx context.Context) error {
	var ended <-chan struct{} // of an external Redis, never
	if r.own != nil {
		ended = r.own.Done()
	}
	select {
	case <-ended:
		return errors.New("the redis-server of this service has ended")
	case <-ctx.Done():
		return nil
	}
}

// close stops a Redis that this command started.
func (r *redisServer) close(ctx context.Context, log *slog.Logger) {
	if r.own == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeRedis)
	defer cancel()
	if err := r.own.Close(ctx); err != nil {
		log.ErrorContext(ctx, "stopping Redis failed", "err", err)
	}
}

// openStore opens the database. It fails if Redis does not answer within a bounded time.
func openStore(ctx context.Context, options store.Options) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	s, err := store.Open(ctx, options)
	switch {
	case err == nil:
		return s, nil
	case isOutage(err):
		return nil, explainRedis(err)
	default:
		return nil, cli.Misuse(err)
	}
}

// isOutage reports whether an error comes from Redis or from the connection to it. Other errors of
// opening a database are refusals of the configuration.
func isOutage(err error) bool {
	type answer interface {
		error
		RedisError()
	}
	_, fromRedis := errors.AsType[answer](err)
	_, fromNetwork := errors.AsType[net.Error](err)
	return fromRedis || fromNetwork || errors.Is(err, rdb.ErrReplica) || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) ||
		strings.Contains(err.Error(), noNodes)
}

// noNodes is the text of the driver's error for a cluster without slots. The driver exports no value for it.
const noNodes = "cluster has no nodes"

// explainRedis adds to an error of Redis, or of the connection to it, what to do about it.
func explainRedis(err error) error {
	if !isOutage(err) {
		return err
	}
	text := err.Error()
	for _, known := range [][2]string{
		{rdb.ErrReplica.Error(), "set --redis-url (RETWIS_REDIS_URL) to the URL of the master"},
		{"READONLY ", "set --redis-url (RETWIS_REDIS_URL) to the URL of the master"},
		{"OOM ", "raise maxmemory, or add memory"},
		{"MISCONF ", "check the log of Redis, and the free space of its disk"},
		{"LOADING ", "wait until it has loaded its data"},
		{"CLUSTERDOWN ", "run redis-cli --cluster check"},
		{noNodes, "run redis-cli --cluster check"},
		{"NOPERM ", "grant the permission to the user: see ACL LIST"},
	} {
		if strings.Contains(text, known[0]) {
			return fmt.Errorf("%w: %s", err, known[1])
		}
	}
	return fmt.Errorf("%w: %s", err, seeURL)
}

// withoutPasswords returns a list of URLs for display.
func withoutPasswords(list string) string {
	var shown []string
	for one := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil {
			return "the Redis of the URL given"
		}
		shown = append(shown, u.Redacted())
	}
	return strings.Join(shown, ",")
}
