package live

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/bench/process"
	"retwis/internal/live"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/store"
)

// The kinds of servers that live delivery is measured on.
const (
	Ours       = "live"            // the service, without passwords
	Stock      = "live-stock"      // the same resolvers on gqlgen's own websocket transport
	Raw        = "live-raw"        // no GraphQL: a message of the same length, prepared once and written to every websocket
	Centrifuge = "live-centrifuge" // no GraphQL: a channel of a centrifuge node, with recovery
)

// NewServer returns a server of a kind on the database of a Redis.
func NewServer(ctx context.Context, kind, redisURL string, log *slog.Logger) (process.Server, error) {
	switch kind {
	case Centrifuge:
		return newCentrifuge(log)
	case Raw:
		b := &broadcaster{conns: map[*websocket.Conn]struct{}{}}
		return process.Server{
			Serve:     process.ServeHTTP(b),
			Usage:     func(u *process.Usage) { u.Clients = b.count() },
			Broadcast: b.broadcast,
		}, nil
	}
	db, err := store.Open(ctx, store.Options{URL: redisURL})
	if err != nil {
		return process.Server{}, err
	}
	hub := live.NewHub(db.Live, log, live.Options{Node: fmt.Sprint("bench", os.Getpid())})
	executor := graph.NewExecutor(&graph.Resolver{
		Users: db.Accounts, Posts: db.Posts, Reposts: db.Posts, Likes: db.Likes, Follows: db.Follows, Lists: db.Lists, Tags: db.Tags, Timelines: db.Timelines, Live: hub,
		Limits: ratelimit.New(db.Limits, ratelimit.Policies{}, log),
	}, graph.Options{Log: log})
	s := process.Server{Close: func() { _ = db.Close() }}
	if kind == Stock {
		s.Serve = besideHub(hub, process.ServeHTTP(stock{executor}))
		return s, nil
	}
	api, err := server.New(server.Options{
		Executor: executor, Accounts: anybody{}, Log: log, DrainTime: time.Millisecond,
		SocketsPerUser: -1, SocketsPerNetwork: -1, SubscriptionsPerUser: -1, SubscriptionsPerNetwork: -1,
		OperationsPerUser: -1, OperationsPerNetwork: -1,
	})
	if err != nil {
		_ = db.Close()
		return process.Server{}, err
	}
	s.Serve = besideHub(hub, api.Serve)
	s.Usage = func(u *process.Usage) { u.Clients, u.Executions = api.Stats().Clients, api.Stats().Executions }
	return s, nil
}

// besideHub serves while a hub runs.
func besideHub(hub *live.Hub, serve func(context.Context, net.Listener) error) func(context.Context, net.Listener) error {
	return func(ctx context.Context, listener net.Listener) error {
		running, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		wg.Go(func() { _ = hub.Run(running) })
		return serve(ctx, listener)
	}
}

// anybody takes a token for the id of a user.
type anybody struct{}

func (anybody) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	id, err := retwis.ParseUserID(token)
	if err != nil {
		return auth.Identity{}, retwis.ErrUnauthenticated
	}
	return auth.Identity{User: id, Session: retwis.SessionKey{Bucket: id.Bucket(), Hash: token}}, nil
}

func (anybody) Presume(ctx context.Context, _ string) (context.Context, auth.Presumed, bool) {
	return ctx, auth.Presumed{}, false
}

// subscribed is the first message of a broadcaster: the subscriber receives all later ones.
const subscribed = `{"subscribe":{}}`

// broadcaster writes a message to all websockets.
type broadcaster struct {
	mu    sync.Mutex
	conns map[*websocket.Conn]struct{}
}

func (b *broadcaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	b.mu.Lock()
	b.conns[conn] = struct{}{}
	err = conn.WriteMessage(websocket.TextMessage, []byte(subscribed))
	b.mu.Unlock()
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	b.mu.Lock()
	delete(b.conns, conn)
	b.mu.Unlock()
}

func (b *broadcaster) broadcast(message []byte) {
	prepared, err := websocket.NewPreparedMessage(websocket.TextMessage, message)
	if err != nil {
		return // the measurement waits in vain, and fails
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn := range b.conns {
		_ = conn.WritePreparedMessage(prepared) // the reader notices a closed connection
	}
}

func (b *broadcaster) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}
