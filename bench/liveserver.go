package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/collector"
	"retwis/internal/live"
	"retwis/internal/quota"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/store"
)

// The servers that live delivery is measured on run in processes of their own, so that
// their CPU time and memory are theirs alone. They are this program again, with -live.
const (
	liveOurs  = "ours"  // the service, but for passwords
	liveStock = "stock" // the same API on gqlgen's own websocket transport
	liveRaw   = "raw"   // no API: the same bytes written to every websocket
)

// usage is what a server has used, and done.
type usage struct {
	CPU        time.Duration // user and system
	Memory     int64         // resident
	Goroutines int
	Clients    int
	Executions int64
}

// collectFirst is the line for the usage after a garbage collection.
const collectFirst = "collect"

// serveLive is the child: it says its address, answers each line with its usage, and
// ends with its input. The raw server broadcasts what the line says.
func serveLive(ctx context.Context, kind, redisURL string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	raw := &broadcaster{conns: map[*websocket.Conn]struct{}{}}
	report := func(*usage) {}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	wg.Go(func() { _ = collector.Tune(ctx) }) // as the service does; so do those it is compared with
	if strings.HasPrefix(kind, pageOurs) {
		wg.Go(func() {
			if err := servePages(ctx, kind, redisURL, listener, log); err != nil {
				log.Error("serving pages failed", "err", err)
			}
		})
	} else if kind == liveRaw {
		wg.Go(func() { serveUntil(ctx, listener, raw) })
		report = func(u *usage) { u.Clients = raw.count() }
	} else {
		db, err := store.Open(ctx, store.Options{URL: redisURL})
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		hub := live.NewHub(db, log, live.Options{Node: fmt.Sprint("bench", os.Getpid())})
		wg.Go(func() { _ = hub.Run(ctx) })
		executor := newLiveExecutor(db, hub, log)
		if kind == liveStock {
			wg.Go(func() { serveUntil(ctx, listener, stock{executor}) })
		} else {
			api, err := server.New(server.Options{
				Executor: executor, Accounts: anybody{}, Log: log, DrainTime: time.Millisecond,
				SocketsPerUser: -1, SocketsPerNetwork: -1, SubscriptionsPerUser: -1, SubscriptionsPerNetwork: -1,
			})
			if err != nil {
				return err
			}
			wg.Go(func() { _ = api.Serve(ctx, listener) })
			report = func(u *usage) { u.Clients, u.Executions = api.Stats().Clients, api.Stats().Executions }
		}
	}

	fmt.Println(listener.Addr())
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch line = strings.TrimSpace(line); line {
		case "":
		case collectFirst:
			debug.FreeOSMemory()
		default:
			raw.broadcast([]byte(line))
		}
		u, err := ownUsage()
		if err != nil {
			return err
		}
		report(&u)
		if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
			return err
		}
	}
}

func ownUsage() (usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, err
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return usage{}, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		return usage{}, err
	}
	return usage{
		CPU:        time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		Memory:     pages * int64(os.Getpagesize()),
		Goroutines: runtime.NumGoroutine(),
	}, nil
}

func newLiveExecutor(db *store.Store, hub *live.Hub, log *slog.Logger) *graph.Executor {
	return graph.NewExecutor(&graph.Resolver{
		Users: db, Posts: db, Follows: db, Lists: db, Timelines: db, Live: hub,
		Limits: quota.New(db, quota.Rates{}, log),
	}, graph.Options{Log: log})
}

// anybody believes a token to be a user's id.
type anybody struct{}

func (anybody) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	id, err := retwis.ParseUserID(token)
	if err != nil {
		return auth.Identity{}, retwis.ErrUnauthenticated
	}
	return auth.Identity{User: id, Session: retwis.SessionKey{Bucket: id.Bucket(), Hash: token}}, nil
}

// broadcaster writes the same message to all websockets, as a chat example does.
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
	b.mu.Unlock()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			break
		}
	}
	b.mu.Lock()
	delete(b.conns, conn)
	b.mu.Unlock()
}

func (b *broadcaster) broadcast(message []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn := range b.conns {
		_ = conn.WriteMessage(websocket.TextMessage, message) // who is gone is found by its reader
	}
}

func (b *broadcaster) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	_ = srv.Serve(listener)
}
