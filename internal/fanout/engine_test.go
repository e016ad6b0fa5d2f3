package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
	"retwis/internal/store/inspect"
)

// engine is a store on a test Redis, with helpers that fail the test on errors.
type engine struct {
	*store.Store
	url string
	t   *testing.T

	mu   sync.Mutex
	keys int
}

func newEngine(t *testing.T, options store.Options) *engine {
	t.Helper()
	options.Log = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &engine{Store: s, url: options.URL, t: t}
}

// testWriter writes logs to the test while the test runs.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(line)))
	}
	return len(line), nil
}

// shortLease makes other workers take over soon. On a busy machine they also take over from a
// healthy worker, so that entries are processed again.
const shortLease = 500 * time.Millisecond

// work runs a worker until the test ends or stop is called.
func (e *engine) work(options fanout.Options) (worker *fanout.Worker, stop func()) {
	e.t.Helper()
	return e.workOn(e.Outbox, e.Tasks, options)
}

// workOn does so on a store that is not quite that of the engine.
func (e *engine) workOn(outbox fanout.Outbox, tasks fanout.Tasks, options fanout.Options) (worker *fanout.Worker, stop func()) {
	e.t.Helper()
	options.Log = slog.New(slog.NewTextHandler(testWriter{e.t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	worker = fanout.New(outbox, tasks, options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	e.t.Cleanup(stop)
	return worker, stop
}

// importer imports into the store.
func (e *engine) importer() *bulk.Importer { return bulk.New(e.Store) }

func (e *engine) register(names ...string) []retwis.UserID {
	e.t.Helper()
	ids := make([]retwis.UserID, len(names))
	for i, name := range names {
		user, err := e.Accounts.Register(e.t.Context(), retwis.Registration{Username: name, DisplayName: name, PasswordHash: "x"})
		if err != nil {
			e.t.Fatal(err)
		}
		ids[i] = user.ID
	}
	return ids
}

// crowd registers n users.
func (e *engine) crowd(prefix string, n int) []retwis.UserID {
	e.t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return e.register(names...)
}

// apart registers n users of different partitions.
func (e *engine) apart(n int) []retwis.UserID {
	e.t.Helper()
	var users []retwis.UserID
	taken := map[int]bool{}
	for i := 0; len(users) < n; i++ {
		user := e.register(fmt.Sprint("apart", i))[0]
		if partition := e.Outbox.PartitionOfUser(user); !taken[partition] {
			taken[partition] = true
			users = append(users, user)
		}
	}
	return users
}

func (e *engine) post(author retwis.UserID, text string) retwis.PostID {
	e.t.Helper()
	edge, err := e.Posts.CreatePost(e.t.Context(), retwis.NewPost{Author: author, Text: text, IdempotencyKey: e.key()})
	if err != nil {
		e.t.Fatal(err)
	}
	return edge.Post.ID
}

func (e *engine) key() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys++
	return fmt.Sprint("key", e.keys)
}

func (e *engine) follow(reader, author retwis.UserID) {
	e.t.Helper()
	if err := e.Follows.Follow(e.t.Context(), reader, author); err != nil {
		e.t.Fatal(err)
	}
}

func (e *engine) unfollow(reader, author retwis.UserID) {
	e.t.Helper()
	if err := e.Follows.Unfollow(e.t.Context(), reader, author); err != nil {
		e.t.Fatal(err)
	}
}

// drain waits until the outboxes are empty.
func (e *engine) drain() {
	e.t.Helper()
	e.drainWithin(time.Minute)
}

func (e *engine) drainWithin(limit time.Duration) {
	e.t.Helper()
	var waiting int
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var err error
		if waiting, err = e.Outbox.OutboxLength(e.t.Context()); err == nil && waiting == 0 {
			return
		}
	}
	e.t.Fatalf("%d outbox entries remain after %s", waiting, limit)
}

// holdOutbox keeps workers from an author's outbox until release is called. None may run yet.
func (e *engine) holdOutbox(author retwis.UserID) (release func()) {
	e.t.Helper()
	const nobody = "a worker that does nothing"
	outbox := e.Outbox.PartitionOfUser(author)
	if lease := e.Outbox.AcquireLeases(e.t.Context(), []int{outbox}, nobody, time.Hour)[0]; !lease.Held {
		e.t.Fatal(lease.Err)
	}
	return func() {
		e.t.Helper()
		if err := e.Outbox.ReleaseLease(e.t.Context(), outbox, nobody); err != nil {
			e.t.Fatal(err)
		}
	}
}

// drainAllBut waits until all outboxes but one are empty.
func (e *engine) drainAllBut(outbox int) {
	e.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		first, err := inspect.NewInspector(e.Store).OutboxStarts(e.t.Context())
		if err != nil {
			e.t.Fatal(err)
		}
		first[outbox] = ""
		if !slices.ContainsFunc(first, func(entry string) bool { return entry != "" }) {
			return
		}
	}
	e.t.Fatal("outbox entries still wait")
}

// read reads all pages of a timeline, newest first.
func (e *engine) read(id retwis.TimelineID) []retwis.PostID {
	e.t.Helper()
	var all []retwis.PostID
	var after retwis.Cursor
	for {
		page, err := e.Timelines.Page(e.t.Context(), id, retwis.Page{First: 100, After: after})
		if err != nil {
			e.t.Fatal(err)
		}
		for _, edge := range page.Edges {
			all = append(all, edge.Post.ID)
			after = edge.Cursor
		}
		if !page.HasNextPage {
			return all
		}
	}
}

func newest(ids []retwis.PostID) []retwis.PostID {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	return sorted
}

// retry repeats a call as a client would: after any error except one of the service.
func retry[T any](t *testing.T, act func() (T, error)) T {
	t.Helper()
	for try := 0; ; try++ {
		value, err := act()
		var answer *retwis.Error
		if err == nil {
			return value
		}
		if errors.As(err, &answer) || try == 20 || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// raw returns a client that bypasses the store.
func raw(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(strings.Split(url, ",")[0])
	if err != nil {
		t.Fatal(err)
	}
	client := redis.UniversalClient(redis.NewClient(options))
	if strings.Contains(url, ",") {
		_ = client.Close()
		client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{options.Addr}})
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func keys(t *testing.T, client redis.UniversalClient, pattern string) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	scan := func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	}
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), scan)
	} else {
		err = scan(t.Context(), client.(*redis.Client))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// retryFor repeats a call until it succeeds or the limit has passed.
func retryFor[T any](t *testing.T, limit time.Duration, act func() (T, error)) T {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		value, err := act()
		if err == nil {
			return value
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func xadd(stream string, fields []string) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: stream, Values: fields}
}

func z(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
