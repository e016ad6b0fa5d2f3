package page

import (
	"context"
	"fmt"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
	"retwis/internal/store/bulk"
)

// OverHTTP measures the home page of a reader who follows 50 authors. The baselines are a handler
// that reads the same from Redis and encodes it with encoding/json, the API without a cache of posts, gqlgen with the
// same resolvers, and a handler that answers with a page from memory.
func OverHTTP(ctx context.Context, r *measure.Run) error {
	w, token, stop, err := homeTimeline(ctx, r)
	if err != nil {
		return err
	}
	defer stop()
	var costs []cost
	for _, kind := range []string{Ours, Raw, Cold, Gqlgen, Static} {
		c, err := serving(ctx, r, w, kind, token)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		costs = append(costs, c)
	}
	ours, raw, cold, gqlgen, static := costs[0], costs[1], costs[2], costs[3], costs[4]
	beside := func(value func(cost) float64, goal measure.Goal) []measure.Baseline {
		return []measure.Baseline{
			{Name: "raw handler", Value: value(raw), Goal: goal},
			{Name: "without a cache", Value: value(cold)},
			{Name: "gqlgen", Value: value(gqlgen)},
			{Name: "page from memory", Value: value(static)},
		}
	}
	cpu := func(c cost) float64 { return micros(c.cpu) }
	r.Add(measure.Figure{
		Name: "home page over HTTP, CPU of the server", Unit: "µs", Value: cpu(ours), Beside: beside(cpu, measure.AtMost(0.6)),
	})
	r.Add(measure.Figure{
		Name: "home page over HTTP without a cache, CPU of the server", Unit: "µs", Value: cpu(cold),
		Beside: []measure.Baseline{{Name: "raw handler", Value: cpu(raw)}},
	})
	r.Add(measure.Figure{
		Name: "home page over HTTP, CPU of Redis", Unit: "µs", Value: micros(ours.redis),
		Beside: []measure.Baseline{
			{Name: "raw handler", Value: micros(raw.redis)},
			{Name: "without a cache", Value: micros(cold.redis), Goal: measure.AtMost(0.5)},
		},
	})
	rate := func(c cost) float64 { return c.rate }
	r.Add(measure.Figure{
		Name: fmt.Sprintf("home page over HTTP, %d clients", Clients), Unit: "pages/s", Value: rate(ours), Beside: beside(rate, measure.Goal{}),
	})
	p99 := func(c cost) float64 { return c.p99 }
	r.Add(measure.Figure{
		Name: "home page over HTTP, p99 at half of that rate", Unit: "ms", Value: p99(ours), Goal: measure.AtMost(5),
		Beside: beside(p99, measure.Goal{}),
	})
	return nil
}

// ByPosts measures the same page while the database fills with posts of other authors.
func ByPosts(ctx context.Context, r *measure.Run) error {
	w, token, stop, err := homeTimeline(ctx, r)
	if err != nil {
		return err
	}
	defer stop()
	authors, err := w.AddUsers(ctx, "other", r.Size(1000, 10))
	if err != nil {
		return err
	}
	stored := 0
	var first cost
	for _, posts := range []int{r.Size(1000, 10), r.Size(100_000, 100), r.Size(1_000_000, 500)} {
		if err := importPosts(ctx, w, authors, stored, posts); err != nil {
			return err
		}
		c, err := serving(ctx, r, w, Ours, token)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("home page with %d posts stored", posts)
		if stored == 0 {
			first = c
		}
		baseline := fmt.Sprintf("with %d posts", r.Size(1000, 10))
		r.Add(measure.Figure{
			Name: name + ", CPU of the server", Unit: "µs", Value: micros(c.cpu),
			Beside: []measure.Baseline{{Name: baseline, Value: micros(first.cpu)}},
		})
		r.Add(measure.Figure{
			Name: name + ", p99 at half of the full rate", Unit: "ms", Value: c.p99,
			Beside: []measure.Baseline{{Name: baseline, Value: first.p99}},
		})
		stored = posts
	}
	return nil
}

// homeTimeline starts a database with a worker and a reader who follows 50 authors, and returns a token
// of the reader.
func homeTimeline(ctx context.Context, r *measure.Run) (w *world.World, token string, stop func(), err error) {
	if w, err = world.Start(ctx); err != nil {
		return nil, "", nil, err
	}
	_, stopWorker := w.StartWorker(ctx)
	stop = func() { stopWorker(); w.Close() }
	if token, err = w.AddReader(ctx, r.Size(50, 20)); err != nil {
		stop()
		return nil, "", nil, err
	}
	return w, token, stop, nil
}

// cost is what serving a page takes.
type cost struct {
	cpu   time.Duration // of the server, per page
	redis time.Duration // CPU of Redis, per page
	rate  float64       // pages a second
	p99   float64       // at half of that rate, in milliseconds
}

// serving measures a server of a kind.
func serving(ctx context.Context, r *measure.Run, w *world.World, kind, token string) (cost, error) {
	warmup, duration := r.Duration(time.Second, 50*time.Millisecond), r.Duration(4*time.Second, 200*time.Millisecond)
	server, err := process.StartChild(ctx, kind, w.URL)
	if err != nil {
		return cost{}, err
	}
	defer server.Stop()
	c, err := load.NewClient(server.URL(), 2*Clients, Timeout)
	if err != nil {
		return cost{}, err
	}
	defer c.Close()
	c.AcceptOnlyPlain() // the baselines do not compress, which takes a fifth of the CPU of a page
	read := Reader(c, token)
	if _, err := (load.Loop{Clients: Clients}).Repeat(ctx, warmup, read); err != nil {
		return cost{}, err
	}
	full, err := fullRate(ctx, w, server, read, duration)
	if err != nil {
		return cost{}, err
	}
	half, err := load.Loop{Clients: 2 * Clients, Rate: full.rate / 2}.Repeat(ctx, duration, read)
	full.p99 = half.P99()
	return full, err
}

// fullRate measures a server while as many clients as possible read pages, for a while. It returns no p99.
func fullRate(ctx context.Context, w *world.World, server *process.Child, read func(context.Context) error, duration time.Duration) (cost, error) {
	before, err := server.Usage()
	if err != nil {
		return cost{}, err
	}
	redisBefore, err := redisCPU(ctx, w)
	if err != nil {
		return cost{}, err
	}
	full, err := load.Loop{Clients: Clients}.Repeat(ctx, duration, read)
	if err != nil {
		return cost{}, err
	}
	after, err := server.Usage()
	if err != nil {
		return cost{}, err
	}
	redisAfter, err := redisCPU(ctx, w)
	if err != nil {
		return cost{}, err
	}
	pages := time.Duration(full.Operations)
	return cost{cpu: (after.CPU - before.CPU) / pages, redis: (redisAfter - redisBefore) / pages, rate: full.PerSecond()}, nil
}

// redisCPU returns the CPU time that Redis has used.
func redisCPU(ctx context.Context, w *world.World) (time.Duration, error) {
	seconds, err := w.Info(ctx, "cpu", "used_cpu_user", "used_cpu_sys")
	return time.Duration(seconds * float64(time.Second)), err
}

// importPosts adds posts of authors, the same number of each, until there are so many.
func importPosts(ctx context.Context, w *world.World, authors []retwis.UserID, from, to int) error {
	each, had := to/len(authors), from/len(authors)
	for had < each {
		n := min(bulk.MaxImport, each-had)
		past := make([]retwis.PastPost, n)
		for i := range past {
			past[i] = retwis.PastPost{Text: world.PostText, CreatedAt: time.Date(2026, 1, 1, 0, had+i+1, 0, 0, time.UTC)}
		}
		err := world.Concurrently(ctx, len(authors), func(ctx context.Context, i int) error {
			_, err := bulk.New(w.Store).ImportPosts(ctx, []retwis.PostImport{{Author: authors[i], Source: "bench", From: had, Posts: past}})
			return err
		})
		if err != nil {
			return err
		}
		had += n
		if err := w.AwaitDelivery(ctx); err != nil {
			return err
		}
	}
	return nil
}
