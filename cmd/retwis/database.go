package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"retwis/internal/embedded"
	"retwis/internal/store"
)

const (
	inMemory   = "memory"         // as a Redis URL: inside this process
	openTime   = 15 * time.Second // for a Redis to answer when it is opened
	closeRedis = 3 * time.Second  // for a child to write what it holds
	giveRedis  = "set RETWIS_REDIS_URL, or --redis-url, to the Redis of the service"
)

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
	if err != nil {
		return nil, err
	}
	r := &redisServer{url: own.URL(), own: own, name: "inside this process"}
	if !own.InProcess() {
		r.name = "a child process"
		if r.data, err = filepath.Abs(dataDir); err != nil {
			r.data = dataDir
		}
	}
	return r, nil
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
	if err != nil && !isOutage(err) {
		return nil, misuse{err}
	}
	return s, err
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
	return fromRedis || fromNetwork || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled)
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
