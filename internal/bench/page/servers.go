package page

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"golang.org/x/sync/errgroup"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/bench/process"
	"retwis/internal/live"
	"retwis/internal/ratelimit"
	"retwis/internal/server"
	"retwis/internal/store"
)

// The kinds of servers that pages are measured on.
const (
	Ours   = "page"
	Cold   = "page-cold"   // the same without a cache of posts
	Gqlgen = "page-gqlgen" // the same resolvers, executed and served over HTTP by gqlgen
	Raw    = "page-raw"    // no GraphQL: the same reads, and encoding/json
	Static = "page-static" // no Redis: a page from memory, and encoding/json
)

// postCache is the size of the cache of posts in bytes, the default of the service.
const postCache = 64 << 20

// NewServer returns a server of a kind on the database of a Redis.
func NewServer(ctx context.Context, kind, redisURL string, log *slog.Logger) (process.Server, error) {
	if kind == Static {
		return process.Server{Serve: process.ServeHTTP(staticPage())}, nil
	}
	db, err := store.Open(ctx, store.Options{URL: redisURL})
	if err != nil {
		return process.Server{}, err
	}
	serve, err := serveFrom(ctx, db, kind, redisURL, log)
	if err != nil {
		_ = db.Close()
		return process.Server{}, err
	}
	return process.Server{Serve: serve, Close: func() { _ = db.Close() }}, nil
}

func serveFrom(ctx context.Context, db *store.Store, kind, redisURL string, log *slog.Logger) (func(context.Context, net.Listener) error, error) {
	if kind == Raw {
		pages, err := newRawPages(ctx, redisURL, db)
		if err != nil {
			return nil, err
		}
		return process.ServeHTTP(pages), nil
	}
	accounts, err := auth.NewAccounts(db.Accounts, db.Sessions, auth.Options{Log: log})
	if err != nil {
		return nil, err
	}
	executor := graph.NewExecutor(&graph.Resolver{
		Accounts: accounts, Users: db.Accounts, Posts: db.Posts, Reposts: db.Posts, Likes: db.Likes, Follows: db.Follows, Lists: db.Lists, Tags: db.Tags, Timelines: db.Timelines,
		Live:   live.NewHub(db.Live, log, live.Options{Node: "bench"}),
		Limits: ratelimit.New(db.Limits, ratelimit.Policies{}, log),
	}, graph.Options{Log: log, Unplanned: kind == Gqlgen})
	if kind == Gqlgen {
		return process.ServeHTTP(gqlgenPages{executor, accounts}), nil
	}
	api, err := server.New(server.Options{Executor: executor, Accounts: accounts, Log: log, DrainTime: time.Millisecond})
	if err != nil {
		return nil, err
	}
	if kind == Cold {
		return api.Serve, nil
	}
	return func(ctx context.Context, listener net.Listener) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return db.Posts.Cache(ctx, postCache) })
		group.Go(func() error { return api.Serve(ctx, listener) })
		return group.Wait()
	}, nil
}

// gqlgenPages is gqlgen's transport, after a check of the session.
type gqlgenPages struct {
	executor *graph.Executor
	accounts *auth.Accounts
}

func (p gqlgenPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, err := p.accounts.Authenticate(r.Context(), bearer(r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	ctx := graphql.StartOperationTrace(auth.WithIdentity(r.Context(), who))
	transport.POST{}.Do(w, r.WithContext(ctx), p.executor)
}

func bearer(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token
}
