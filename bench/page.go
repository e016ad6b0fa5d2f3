package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/bench"
	"retwis/internal/quota"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// measurePagesInMemory executes the home page of 20 posts with their authors, with the
// data in memory.
func measurePagesInMemory(ctx context.Context, r *report) error {
	costs := map[bool]pageCost{}
	for _, unplanned := range []bool{true, false} {
		cost, err := costInMemory(ctx, unplanned)
		if err != nil {
			return err
		}
		costs[unplanned] = cost
	}
	ours, gql := costs[false], costs[true]
	r.add("home page, data in memory, CPU", micros(ours.cpu), "gqlgen "+micros(gql.cpu), "≤ 40 µs")
	r.add("home page, data in memory, allocations", fmt.Sprint(ours.allocs), fmt.Sprintf("gqlgen %d", gql.allocs), "≤ 150")
	return nil
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

type pageCost struct {
	cpu    time.Duration
	allocs uint64
}

// costInMemory executes the page from its text to its bytes, many times.
func costInMemory(ctx context.Context, unplanned bool) (pageCost, error) {
	const pages = 20_000
	log := slog.New(slog.DiscardHandler)
	data := newPageData()
	var unasked *store.Store // the page asks it nothing
	executor := graph.NewExecutor(&graph.Resolver{
		Users: data, Timelines: data, Posts: unasked, Follows: unasked, Lists: unasked, Limits: quota.New(nil, quota.Rates{}, log),
	}, graph.Options{Log: log, Unplanned: unplanned})
	ctx = auth.WithIdentity(ctx, auth.Identity{User: data.reader})
	execute := func() error {
		ctx := graphql.StartOperationTrace(ctx)
		op, errs := executor.CreateOperationContext(ctx, &graphql.RawParams{Query: homePage})
		if len(errs) > 0 {
			return errs
		}
		responses, ctx := executor.DispatchOperation(ctx, op)
		if response := responses(ctx); len(response.Errors) > 0 || len(response.Data) < 4000 {
			return fmt.Errorf("%w: %s", response.Errors, response.Data)
		}
		return nil
	}
	for range pages / 10 {
		if err := execute(); err != nil {
			return pageCost{}, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := ownUsage()
	if err != nil {
		return pageCost{}, err
	}
	for range pages {
		if err := execute(); err != nil {
			return pageCost{}, err
		}
	}
	end, err := ownUsage()
	runtime.ReadMemStats(&after)
	return pageCost{(end.CPU - start.CPU) / pages, (after.Mallocs - before.Mallocs) / pages}, err
}

// pageData answers the page from memory.
type pageData struct {
	people
	reader retwis.UserID
	page   retwis.PostPage
	users  map[retwis.UserID]*retwis.User
}

// people are what the page never asks for.
type people struct{ graph.Users }

func newPageData() *pageData {
	d := &pageData{reader: retwis.Buckets + 1, users: map[retwis.UserID]*retwis.User{}}
	for i := range 20 {
		author := retwis.UserID((i+2)*retwis.Buckets + 1)
		d.users[author] = &retwis.User{ID: author, Username: fmt.Sprint("author", i), DisplayName: fmt.Sprint("Author ", i)}
		id := retwis.PostID((i + 1) * 1_000_000)
		d.page.Edges = append(d.page.Edges, retwis.PostEdge{
			Cursor: retwis.TimelinePosition{Timeline: retwis.Home(d.reader), Post: id}.Cursor(),
			Post: &retwis.Post{
				ID: id, AuthorID: author, Text: "a post of the usual length, which is about as long as this one", CreatedAt: id.CreatedAt(),
			},
		})
	}
	d.page.LiveCursor, d.page.HasNextPage = d.page.Edges[0].Cursor, true
	return d
}

func (d *pageData) Page(context.Context, retwis.TimelineID, retwis.Page) (retwis.PostPage, error) {
	return d.page, nil
}

func (d *pageData) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	users := make([]*retwis.User, len(ids))
	for i, id := range ids {
		users[i] = d.users[id]
	}
	return users, nil
}

func (d *pageData) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return d.Users(ctx, ids)
}

const pageClients = 32

// measurePagesOverHTTP reads the page from servers of its own, by a home of 50 authors.
func measurePagesOverHTTP(ctx context.Context, r *report) error {
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	_, stop := bench.Started(ctx, w)
	defer stop()
	token, err := homeOf(ctx, w, 50, 1)
	if err != nil {
		return err
	}
	costs := map[string]loadCost{}
	for _, kind := range []string{pageRaw, pageGqlgen, pageOurs} {
		cost, err := costOverHTTP(ctx, w, kind, token)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		costs[kind] = cost
	}
	ours, raw, gql := costs[pageOurs], costs[pageRaw], costs[pageGqlgen]
	r.add("home page over HTTP with Redis, CPU of the server", micros(ours.cpu),
		fmt.Sprintf("raw handler %s, gqlgen %s", micros(raw.cpu), micros(gql.cpu)),
		atMost(float64(ours.cpu)/float64(raw.cpu), 1.3)+" of the raw handler's")
	r.add("home page over HTTP with Redis, 32 clients, pages/s", thousands(ours.rate),
		fmt.Sprintf("raw handler %s, gqlgen %s", thousands(raw.rate), thousands(gql.rate)), "")
	r.add("the same at half that rate, p99", ours.p99.String(), "raw handler "+raw.p99.String(), "≤ 5ms")
	return nil
}

func atMost(got, goal float64) string {
	verdict := "reached"
	if got > goal {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%.2f ×, goal ≤ %.1f ×: %s", got, goal, verdict)
}

type loadCost struct {
	cpu  time.Duration // of the server, for a page
	rate float64       // pages a second
	p99  time.Duration // at half that rate
}

func costOverHTTP(ctx context.Context, w *bench.World, kind, token string) (loadCost, error) {
	s, err := startLive(ctx, kind, w.URL)
	if err != nil {
		return loadCost{}, err
	}
	defer s.stop()
	p := &program{url: "http://" + s.address, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 2 * pageClients}, Timeout: 10 * time.Second,
	}}
	read := func(ctx context.Context) error { return p.do(ctx, token, homePage, nil) }
	if _, err := load(ctx, pageClients, time.Second, read); err != nil {
		return loadCost{}, err
	}
	before, err := s.used()
	if err != nil {
		return loadCost{}, err
	}
	full, err := load(ctx, pageClients, 4*time.Second, read)
	if err != nil {
		return loadCost{}, err
	}
	after, err := s.used()
	if err != nil {
		return loadCost{}, err
	}
	half, err := loadAt(ctx, full.rate()/2, 4*time.Second, read)
	if err != nil {
		return loadCost{}, err
	}
	return loadCost{(after.CPU - before.CPU) / time.Duration(len(full.latencies)), full.rate(), half.p99()}, nil
}

// loadAt does something so many times a second, each at its time whether or not those
// before are done. Latencies count from then on.
func loadAt(ctx context.Context, rate float64, duration time.Duration, do func(context.Context) error) (result, error) {
	var mu sync.Mutex
	var r result
	var failed error
	var wg sync.WaitGroup
	limit := make(chan struct{}, 2*pageClients) // who waits here has begun to wait when it was due
	start := time.Now()
	for i := range int(rate * duration.Seconds()) {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		limit <- struct{}{}
		wg.Go(func() {
			err := do(ctx)
			took := time.Since(due)
			<-limit
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			r.latencies = append(r.latencies, took)
		})
	}
	wg.Wait()
	r.elapsed = time.Since(start)
	slices.Sort(r.latencies)
	if failed == nil && len(r.latencies) == 0 {
		failed = errors.New("nothing was done")
	}
	return r, failed
}

// homeOf makes a reader of authors who have some posts each, and returns a session of
// theirs.
func homeOf(ctx context.Context, w *bench.World, authors, posts int) (token string, err error) {
	readers, err := w.Crowd(ctx, "reader", 1)
	if err != nil {
		return "", err
	}
	followed, err := w.Crowd(ctx, "writer", authors)
	if err != nil {
		return "", err
	}
	for _, author := range followed {
		if err := w.Follow(ctx, readers[0], author); err != nil {
			return "", err
		}
		for range posts {
			if err := w.PostOne(ctx, author); err != nil {
				return "", err
			}
		}
	}
	if err := w.Drained(ctx); err != nil {
		return "", err
	}
	token, key := auth.NewToken(readers[0].Bucket())
	return token, w.CreateSession(ctx, retwis.NewSession{User: readers[0], Key: key})
}

// measurePagesByPosts reads the page of the same home while the database fills with
// posts of others.
func measurePagesByPosts(ctx context.Context, r *report) error {
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	_, stop := bench.Started(ctx, w)
	defer stop()
	token, err := homeOf(ctx, w, 50, 1)
	if err != nil {
		return err
	}
	others, err := w.Crowd(ctx, "other", 1000)
	if err != nil {
		return err
	}
	stored := 0
	var first time.Duration
	for _, posts := range []int{1000, 100_000, 1_000_000} {
		if err := fill(ctx, w, others, stored, posts); err != nil {
			return err
		}
		stored = posts
		cost, err := costOverHTTP(ctx, w, pageOurs, token)
		if err != nil {
			return err
		}
		if first == 0 {
			first = cost.cpu
		}
		r.add(fmt.Sprintf("home page with %s posts stored, CPU of the server", thousands(float64(posts))), micros(cost.cpu),
			fmt.Sprintf("%s pages/s, p99 %s", thousands(cost.rate), cost.p99), fmt.Sprintf("%.2f × that with 1 000", float64(cost.cpu)/float64(first)))
	}
	return nil
}

// fill makes the others' posts, as many of each as it takes.
func fill(ctx context.Context, w *bench.World, others []retwis.UserID, from, to int) error {
	each, had := to/len(others), from/len(others)
	for had < each {
		n := min(store.MaxImport, each-had)
		past := make([]retwis.PastPost, n)
		for i := range past {
			past[i] = retwis.PastPost{
				Text:      "a post of the usual length, which is about as long as this one",
				CreatedAt: retwis.Epoch.Add(time.Duration(had+i+1) * time.Minute),
			}
		}
		err := bench.Concurrently(ctx, len(others), func(ctx context.Context, i int) error {
			_, err := w.ImportPosts(ctx, []retwis.PostImport{{Author: others[i], Source: "bench", From: had, Posts: past}})
			return err
		})
		if err != nil {
			return err
		}
		had += n
		if err := w.Drained(ctx); err != nil {
			return err
		}
	}
	return nil
}
