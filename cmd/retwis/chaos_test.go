package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
)

// TestService_LosesNothingWhenPartsFail has people post, delete, follow and read live while each
// part that the service stands on fails, one after the other, time and again: API processes
// and workers are killed, stopped and frozen, masters of the cluster hang and fail over,
// and connections of its pub/sub break. Whoever was told that a post was made finds it in
// the end with every follower, once, and a reader who only followed the events knows the same
// home as one who reads it. The posts of each author are in their order; those of several may
// change places when a failover takes some back, which are then delivered again.
func TestService_LosesNothingWhenPartsFail(t *testing.T) {
	t.Parallel()
	w := newWorks(t)

	const authors, readers = 6, 12
	people := make([]*citizen, authors+readers)
	for i := range people {
		people[i] = w.settle(fmt.Sprint("person", i))
	}
	writing, reading := people[:authors], people[authors:]
	for _, reader := range reading {
		for _, author := range writing {
			if rand.IntN(3) > 0 {
				reader.follow(author)
			}
		}
	}

	var lives sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(lives.Wait)
	t.Cleanup(end)
	day, evening := context.WithCancel(ctx)
	defer evening()
	var writers sync.WaitGroup
	for _, author := range writing {
		writers.Go(func() { w.report(author.write(ctx, day)) })
	}
	for i, reader := range reading {
		lives.Go(func() { w.report(reader.read(ctx)) })
		if i%3 == 0 {
			writers.Go(func() { w.report(reader.waver(ctx, day, writing)) })
		}
	}

	for range redistest.Size(1, 20) {
		disasters := w.disasters()
		rand.Shuffle(len(disasters), func(i, j int) { disasters[i], disasters[j] = disasters[j], disasters[i] })
		for _, d := range disasters {
			began := time.Now()
			d.strike()
			t.Logf("%s: %s", d.what, time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		}
	}
	evening()
	writers.Wait()

	made, cuts := 0, 0
	for _, author := range writing {
		made += len(author.posts)
	}
	for _, reader := range reading {
		want := map[string]bool{}
		for _, author := range reader.followed() {
			for _, id := range author.posts {
				want[id] = true
			}
		}
		eventually(t, reader.name+" knows every post of those it follows, and no other", func() bool { return reader.knows(want) })
		home, err := reader.fetchHome(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(home.posts) != len(want) {
			t.Errorf("%s reads a home of %d posts, want %d", reader.name, len(home.posts), len(want))
		}
		for _, author := range reader.followed() {
			want := slices.Clone(author.posts)
			slices.Reverse(want)
			for how, posts := range map[string][]string{"by the events": reader.known(), "by reading": home.posts} {
				if got := onlyOf(want, posts); !slices.Equal(got, want) {
					t.Errorf("%s has posts of %s in another order %s: %v, want %v", reader.name, author.name, how, got, want)
				}
			}
		}
		cuts += reader.cuts
	}
	end()
	lives.Wait()
	t.Logf("%d posts are left, and %d readers were cut off %d times", made, readers, cuts)
	if cuts < readers {
		t.Errorf("%d readers were cut off %d times: the disasters did not reach them", readers, cuts)
	}
	if code, stdout, stderr := invoke(t, w.env, "check"); code != 0 {
		t.Errorf("the check ended with code %d and printed\n%s%s", code, stdout, stderr)
	}
}

// onlyOf returns those posts that are wanted, as they stand.
func onlyOf(wanted, posts []string) []string {
	return slices.DeleteFunc(slices.Clone(posts), func(id string) bool { return !slices.Contains(wanted, id) })
}

// works are all that the service runs on.
type works struct {
	t       *testing.T
	cluster *redistest.Group
	nodes   []*redis.Client
	env     []string
	workers []*process

	mu   sync.Mutex
	apis []*process
	errs []error
}

const chaosLease = time.Second

func newWorks(t *testing.T) *works {
	t.Helper()
	w := &works{t: t, cluster: redistest.Cluster(t, redistest.ClusterOptions{Replicas: 1})}
	for _, node := range w.cluster.Nodes() {
		w.nodes = append(w.nodes, node.Client())
	}
	w.env = environment(
		"RETWIS_REDIS_URL="+w.cluster.URL(), "RETWIS_WORKER_LEASE="+chaosLease.String(),
		"RETWIS_DRAIN_TIME=500ms", "RETWIS_LOG_LEVEL=error",
		// More than is posted here, deleted posts too. Below a list that is full, pages show
		// posts that are still on their way, and come live then.
		"RETWIS_HOME_CAP=10000",
	)
	for range 2 {
		w.apis = append(w.apis, w.startAPI())
		w.workers = append(w.workers, w.startWorker())
	}
	t.Cleanup(func() {
		for _, err := range w.errs {
			t.Error(err)
		}
	})
	return w
}

func (w *works) startAPI() *process {
	w.t.Helper()
	return serve(w.t, w.env, "--no-worker")
}

func (w *works) startWorker() *process {
	w.t.Helper()
	p := launch(w.t, w.env, "worker")
	p.await(p.stdout, "The fan-out worker is ready")
	return p
}

// url is where one of the API processes is, or was a moment ago.
func (w *works) url(choice int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.apis[choice%len(w.apis)].url
}

func (w *works) replaceAPI(i int, by *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apis[i] = by
}

// report notes what ended somebody's life.
func (w *works) report(err error) {
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errs = append(w.errs, err)
	}
}

// disaster is something that fails, and is well again when strike returns.
type disaster struct {
	what   string
	strike func()
}

func (w *works) disasters() []disaster {
	return []disaster{
		{"an API process is killed", func() { w.endAPI(syscall.SIGKILL) }},
		{"an API process is stopped", func() { w.endAPI(syscall.SIGTERM) }},
		{"an API process is frozen", func() { w.freeze(w.apis[rand.IntN(len(w.apis))], time.Second) }},
		{"a worker is killed", func() {
			i := rand.IntN(len(w.workers))
			w.workers[i].signal(syscall.SIGKILL)
			w.workers[i].code()
			w.workers[i] = w.startWorker()
		}},
		{"a worker is frozen beyond its lease", func() { w.freeze(w.workers[rand.IntN(len(w.workers))], 2*chaosLease) }},
		{"pub/sub connections break", func() {
			for _, node := range w.nodes {
				if err := node.ClientKillByFilter(w.t.Context(), "TYPE", "pubsub").Err(); err != nil {
					w.t.Fatal(err)
				}
			}
		}},
		{"a master hangs", func() {
			node := w.cluster.Master(rand.IntN(16384))
			node.Pause()
			time.Sleep(500 * time.Millisecond)
			node.Resume()
		}},
		{"a master fails over", func() {
			node := w.cluster.KillMaster(rand.IntN(16384))
			w.cluster.AwaitServed()
			node.Start()
			w.cluster.AwaitWhole()
		}},
	}
}

// endAPI ends an API process and puts another one in its place.
func (w *works) endAPI(sig syscall.Signal) {
	w.t.Helper()
	i := rand.IntN(len(w.apis))
	w.apis[i].signal(sig)
	w.apis[i].code()
	w.replaceAPI(i, w.startAPI())
}

func (w *works) freeze(p *process, length time.Duration) {
	w.t.Helper()
	p.signal(syscall.SIGSTOP)
	time.Sleep(length)
	p.signal(syscall.SIGCONT)
}
