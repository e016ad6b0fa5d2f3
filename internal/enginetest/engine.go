// Package enginetest runs a store and workers for tests, with a model of the expected contents. Its helpers fail the
// test on errors.
package enginetest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
	"retwis/internal/store/inspect"
)

// T is a running test: a [testing.T], or a rapid.T, which repeats a sequence of actions to shrink it.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(f func())
	Failed() bool
	FailNow()
	Log(args ...any)
	Logf(format string, args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Engine is a store on a test Redis.
type Engine struct {
	*store.Store
	URL string
	T   T

	mu       sync.Mutex
	keys     int // idempotency keys used
	subtests int
}

// New opens a store for the duration of a test.
func New(t T, options store.Options) *Engine {
	t.Helper()
	options.Log = slog.New(slog.NewTextHandler(LogWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if options.LikePeriod == 0 {
		options.LikePeriod = 5 * time.Millisecond
	}
	s, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Posts.ApplyChanges(t.Context(), 1<<20); err != nil { // starts the cache of posts
		t.Fatal(err)
	}
	return &Engine{Store: s, URL: options.URL, T: t}
}

// ForSubtest returns the same engine for a subtest, with other idempotency keys.
func (e *Engine) ForSubtest(t T) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subtests++
	return &Engine{Store: e.Store, URL: e.URL, T: t, keys: e.keys + 1000*e.subtests}
}

// ContinueKeys makes the engine use other idempotency keys than an earlier engine of the same database.
func (e *Engine) ContinueKeys(earlier *Engine) {
	earlier.mu.Lock()
	used := earlier.keys
	earlier.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys = used
}

// LogWriter writes logs to the test while the test runs.
type LogWriter struct{ T T }

func (w LogWriter) Write(line []byte) (int, error) {
	if w.T.Context().Err() == nil {
		w.T.Log(strings.TrimSpace(string(line)))
	}
	return len(line), nil
}

// ShortLease makes other workers take over soon. On a busy machine they also take over from a
// healthy worker, so that entries are processed again.
const ShortLease = 500 * time.Millisecond

// Work runs a worker until the test ends or stop is called.
func (e *Engine) Work(options fanout.Options) (worker *fanout.Worker, stop func()) {
	e.T.Helper()
	return e.WorkOn(e.Outbox, e.Tasks, options)
}

// WorkOn runs a worker on an outbox and tasks that may differ from those of the engine.
func (e *Engine) WorkOn(outbox fanout.Outbox, tasks fanout.Tasks, options fanout.Options) (worker *fanout.Worker, stop func()) {
	e.T.Helper()
	options.Log = slog.New(slog.NewTextHandler(LogWriter{e.T}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	worker = fanout.New(outbox, tasks, options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	e.T.Cleanup(stop)
	return worker, stop
}

// Importer returns an importer to the store.
func (e *Engine) Importer() *bulk.Importer { return bulk.New(e.Store) }

// Register registers users with these names.
func (e *Engine) Register(names ...string) []retwis.UserID {
	e.T.Helper()
	ids := make([]retwis.UserID, len(names))
	for i, name := range names {
		user, err := e.Accounts.Register(e.T.Context(), retwis.Registration{Username: name, DisplayName: name, PasswordHash: "x"})
		if err != nil {
			e.T.Fatal(err)
		}
		ids[i] = user.ID
	}
	return ids
}

// Crowd registers n users whose names begin with prefix.
func (e *Engine) Crowd(prefix string, n int) []retwis.UserID {
	e.T.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return e.Register(names...)
}

// Apart registers n users of different partitions.
func (e *Engine) Apart(n int) []retwis.UserID {
	e.T.Helper()
	var users []retwis.UserID
	taken := map[int]bool{}
	for i := 0; len(users) < n; i++ {
		user := e.Register(fmt.Sprint("apart", i))[0]
		if partition := e.Outbox.PartitionOfUser(user); !taken[partition] {
			taken[partition] = true
			users = append(users, user)
		}
	}
	return users
}

// ReaderApart registers a reader with a home, and n authors whom the reader follows, of different partitions. No worker
// runs, and nothing waits for one.
func (e *Engine) ReaderApart(n int) (reader retwis.UserID, authors []retwis.UserID) {
	e.T.Helper()
	people := e.Apart(1 + n)
	reader, authors = people[0], people[1:]
	_, stop := e.Work(fanout.Options{})
	for _, author := range authors {
		e.Follow(reader, author)
	}
	e.Read(retwis.Home(reader))
	e.Drain()
	stop()
	return reader, authors
}

// Post creates a post.
func (e *Engine) Post(author retwis.UserID, text string) retwis.PostID {
	e.T.Helper()
	edge, err := e.Posts.CreatePost(e.T.Context(), retwis.NewPost{Author: author, Text: text, IdempotencyKey: e.Key()})
	if err != nil {
		e.T.Fatal(err)
	}
	return edge.Post.ID
}

// Key returns an unused idempotency key.
func (e *Engine) Key() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys++
	return fmt.Sprint("key", e.keys)
}

// Follow makes a reader follow an author.
func (e *Engine) Follow(reader, author retwis.UserID) {
	e.T.Helper()
	if err := e.Follows.Follow(e.T.Context(), reader, author); err != nil {
		e.T.Fatal(err)
	}
}

// Unfollow makes a reader unfollow an author.
func (e *Engine) Unfollow(reader, author retwis.UserID) {
	e.T.Helper()
	if err := e.Follows.Unfollow(e.T.Context(), reader, author); err != nil {
		e.T.Fatal(err)
	}
}

// Drain waits until the outboxes are empty, and counts the likes that have changed.
func (e *Engine) Drain() {
	e.T.Helper()
	const limit = 5 * time.Minute // on a machine with much else to do
	var waiting, changed int
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var err error
		if waiting, err = e.Outbox.OutboxLength(e.T.Context()); err != nil || waiting > 0 {
			continue
		}
		if changed, err = e.Likes.ChangedLikes(e.T.Context()); err == nil && changed == 0 {
			return
		}
		e.CountLikes()
	}
	e.T.Fatalf("%d outbox entries and %d changed likes remain after %s", waiting, changed, limit)
}

// CountLikes counts the changed likes that are due, as workers do.
func (e *Engine) CountLikes() {
	e.T.Helper()
	for more := true; more; {
		var err error
		if more, err = e.Tasks.CountLikes(e.T.Context(), slices.Collect(e.DB().Numbers())); err != nil {
			e.T.Log(err) // a failover of Redis may be in progress
			return
		}
	}
}

// Like makes a user like a post.
func (e *Engine) Like(user retwis.UserID, post retwis.PostID) {
	e.T.Helper()
	if err := e.Likes.Like(e.T.Context(), user, post); err != nil {
		e.T.Fatal(err)
	}
}

// Unlike makes a user stop liking a post.
func (e *Engine) Unlike(user retwis.UserID, post retwis.PostID) {
	e.T.Helper()
	if err := e.Likes.Unlike(e.T.Context(), user, post); err != nil {
		e.T.Fatal(err)
	}
}

// HoldOutbox keeps workers from an author's outbox until release is called. None may run yet.
func (e *Engine) HoldOutbox(author retwis.UserID) (release func()) {
	e.T.Helper()
	const nobody = "a worker that does nothing"
	outbox := e.Outbox.PartitionOfUser(author)
	if lease := e.Outbox.AcquireLeases(e.T.Context(), []int{outbox}, nobody, time.Hour)[0]; !lease.Held {
		e.T.Fatal(lease.Err)
	}
	return func() {
		e.T.Helper()
		if err := e.Outbox.ReleaseLease(e.T.Context(), outbox, nobody); err != nil {
			e.T.Fatal(err)
		}
	}
}

// DrainAllBut waits until all outboxes but these are empty.
func (e *Engine) DrainAllBut(outboxes ...int) {
	e.T.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		first, err := inspect.NewInspector(e.Store).OutboxStarts(e.T.Context())
		if err != nil {
			e.T.Fatal(err)
		}
		for _, outbox := range outboxes {
			first[outbox] = ""
		}
		if !slices.ContainsFunc(first, func(entry string) bool { return entry != "" }) {
			return
		}
	}
	e.T.Fatal("outbox entries still wait")
}

// Read reads all pages of a timeline, newest first.
func (e *Engine) Read(id retwis.TimelineID) []retwis.PostID {
	e.T.Helper()
	var all []retwis.PostID
	var after retwis.Cursor
	for {
		page, err := e.Timelines.Page(e.T.Context(), id, retwis.Page{First: 100, After: after})
		if err != nil {
			e.T.Fatal(err)
		}
		for _, edge := range page.Edges {
			all = append(all, edge.Post.ID)
		}
		if !page.HasNextPage {
			return all
		}
		after = page.EndCursor()
	}
}

// Newest returns posts sorted by id, newest first.
func Newest(ids []retwis.PostID) []retwis.PostID {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	return sorted
}

// LetCatchUp waits while fan-out lags. A post that arrives late by more than the slack of a
// small home may push newer posts out of the list.
func (e *Engine) LetCatchUp() {
	for {
		if waiting, err := e.Outbox.OutboxLength(e.T.Context()); err != nil || waiting < 5 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
