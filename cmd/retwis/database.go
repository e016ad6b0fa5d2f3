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

	"retwis/internal/embedded"
	"retwis/internal/redisproc"
	"retwis/internal/store"
)

const (
	inMemory   = "memory"         // as a Redis URL: inside this process
	openTime   = 15 * time.Second // for a Redis to answer when it is opened
	closeRedis = 3 * time.Second  // for a child to write what it holds
	giveRedis  = "set RETWIS_REDIS_URL, or --redis-url, to the Redis of the service"
	seeURL     = "see that Redis runs there, and that host, port, user, password and TLS are those of --redis-url (RETWIS_REDIS_URL)"
)

// database is an open database, with the Redis that it is on.
type database struct {
	store *store.Store
	redis *redisServer
	log   *slog.Logger
}

// openDatabase opens the database of a Redis, which is started where the settings name none.
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

// openKept opens a database that outlives the command. Where there has to be one already,
// none is made, nor anything for one.
func openKept(ctx context.Context, at, dataDir string, options store.Options) (*database, error) {
	if at == "" && options.Existing && !embedded.HasData(dataDir) {
		return nil, misusef("there is no data in %s: choose the directory of the service with --data-dir (RETWIS_DATA_DIR), or %s",
			absolute(dataDir), giveRedis)
	}
	if at == "" {
		if _, err := redisproc.Find(ctx); err != nil && ctx.Err() == nil {
			return nil, misusef("%w: install Redis %d or later, or %s", err, redisproc.MinVersion, giveRedis)
		}
	}
	return openDatabase(ctx, at, dataDir, options)
}

// close ends all connections, and a Redis of our own after them.
func (d *database) close(ctx context.Context) {
	_ = d.store.Close()
	d.redis.close(ctx, d.log)
}

// redisServer is the Redis of a command: somebody else's, or one that was started for it.
type redisServer struct {
	url  string
	name string             // for people, without passwords
	own  *embedded.Instance // nil where it is somebody else's
	data string             // where a child keeps its data
}

// openRedis starts a Redis where the settings name none.
func openRedis(ctx context.Context, at, dataDir string, log *slog.Logger) (*redisServer, error) {
	if at != "" && at != inMemory {
		return &redisServer{url: at, name: withoutPasswords(at)}, nil
	}
	own, err := embedded.Start(ctx, embedded.Options{DataDir: dataDir, Log: log, Memory: at == inMemory})
	if errors.Is(err, embedded.ErrInUse) {
		return nil, fmt.Errorf("%w: stop that process, choose another directory with --data-dir (RETWIS_DATA_DIR), "+
			"or share one Redis by --redis-url (RETWIS_REDIS_URL)", err)
	}
	if _, ofFiles := errors.AsType[*fs.PathError](err); ofFiles {
		return nil, fmt.Errorf("%w: choose another directory with --data-dir (RETWIS_DATA_DIR), or mend that one", err)
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

// absolute is a path as it is shown.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// keeps says what becomes of the data.
func (r *redisServer) keeps() string {
	switch {
	case r.own == nil:
		return "data is kept as that Redis keeps it"
	case r.own.InProcess():
		return "nothing is kept when it ends"
	default:
		return "data is kept in " + r.data
	}
}

// ended is closed when a Redis of our own has ended by itself.
func (r *redisServer) ended() <-chan struct{} {
	if r.own == nil {
		return nil
	}
	return r.own.Done()
}

// close stops a Redis of our own, after everything that uses it.
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

// openStore opens the database, or says within a bounded time why not.
func openStore(ctx context.Context, options store.Options) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	s, err := store.Open(ctx, options)
	switch {
	case err == nil:
		return s, nil
	case isOutage(err):
		return nil, mendRedis(err)
	default:
		return nil, misuse{err}
	}
}

// isOutage reports whether an error of opening a database came from Redis, or from the
// way to it. What it says otherwise is its own refusal of what it was told to use.
func isOutage(err error) bool {
	type answer interface {
		error
		RedisError()
	}
	_, fromRedis := errors.AsType[answer](err)
	_, fromNetwork := errors.AsType[net.Error](err)
	return fromRedis || fromNetwork || errors.Is(err, store.ErrReplica) || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) ||
		strings.Contains(err.Error(), noNodes)
}

// noNodes is what the driver says of a cluster that serves no slots yet. It has no name for it.
const noNodes = "cluster has no nodes"

// mendRedis adds to an error of Redis, or of the way to it, what to do about it.
func mendRedis(err error) error {
	if !isOutage(err) {
		return err
	}
	text := err.Error()
	for _, known := range [][2]string{
		{store.ErrReplica.Error(), "give the URL of the master by --redis-url (RETWIS_REDIS_URL)"},
		{"READONLY ", "give the URL of the master by --redis-url (RETWIS_REDIS_URL)"},
		{"OOM ", "raise its maxmemory, or add memory"},
		{"MISCONF ", "see its log, and that its disk has room"},
		{"LOADING ", "wait until it has loaded its data"},
		{"CLUSTERDOWN ", "see what redis-cli --cluster check says of it"},
		{noNodes, "see what redis-cli --cluster check says of it"},
		{"NOPERM ", "let its user do that: see ACL LIST"},
	} {
		if strings.Contains(text, known[0]) {
			return fmt.Errorf("%w: %s", err, known[1])
		}
	}
	return fmt.Errorf("%w: %s", err, seeURL)
}

// withoutPasswords is a list of URLs as it may be shown.
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
