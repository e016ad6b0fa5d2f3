package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
)

// TestService_LosesNothingWhenPartsFail lets users post, delete, follow and read live while the parts of a
// deployment fail one after the other: API processes and workers are killed, stopped and frozen, masters of the
// cluster hang and fail over, and pub/sub connections break. In the end each acknowledged post is in the home
// timeline of each follower exactly once, and a reader who only received events has the same posts as a page. The
// posts of one author are in their order. The order of posts of different authors may change, because a failover
// can lose deliveries, which are then repeated.
func TestService_LosesNothingWhenPartsFail(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)

	const authorCount, readerCount = 6, 12
	users := make([]*chaosUser, authorCount+readerCount)
	for i := range users {
		users[i] = d.addUser(fmt.Sprint("person", i))
	}
	authors, readers := users[:authorCount], users[authorCount:]
	for _, reader := range readers {
		for _, author := range authors {
			if rand.IntN(3) > 0 {
				reader.follow(author)
			}
		}
	}

	var background sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(background.Wait)
	t.Cleanup(end)
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var writers sync.WaitGroup
	for _, author := range authors {
		writers.Go(func() { d.report(author.write(ctx, writing)) })
	}
	for i, reader := range readers {
		background.Go(func() { d.report(reader.read(ctx)) })
		if i%3 == 0 {
			writers.Go(func() { d.report(reader.toggleFollows(ctx, writing, authors)) })
		}
	}

	for range redistest.Size(1, 20) {
		faults := d.faults()
		rand.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		for _, f := range faults {
			began := time.Now()
			f.inject()
			t.Logf("%s: %s", f.what, time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		}
	}
	stopWriting()
	writers.Wait()
	settled(t, d.cluster.URL()) // pages promise to be complete while the timeline does not change

	made, reconnects := 0, 0
	for _, author := range authors {
		made += len(author.posts)
	}
	for _, reader := range readers {
		want := map[string]bool{}
		for _, author := range reader.followed() {
			for _, id := range author.posts {
				want[id] = true
			}
		}
		eventually(t, reader.name+" has exactly the posts of the followed authors", func() bool { return reader.hasExactly(want) })
		home, err := reader.fetchHome(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(home.posts) != len(want) {
			again, err := reader.fetchHome(ctx)
			t.Errorf("%s reads a home timeline of %d posts, want %d; %q are of no author or there twice; then %d: %v",
				reader.name, len(home.posts), len(want), enginetest.Surplus(home.posts, slices.Collect(maps.Keys(want))), len(again.posts), err)
		}
		for _, author := range reader.followed() {
			want := slices.Clone(author.posts)
			slices.Reverse(want)
			for how, posts := range map[string][]string{"from events": reader.seenPosts(), "from pages": home.posts} {
				if got := onlyOf(want, posts); !slices.Equal(got, want) {
					t.Errorf("%s has the posts of %s in the wrong order, %s: %v, want %v", reader.name, author.name, how, got, want)
				}
			}
		}
		reconnects += reader.reconnects
	}
	end()
	background.Wait()
	t.Logf("%d posts remain, and %d readers reconnected %d times", made, readerCount, reconnects)
	if reconnects < readerCount {
		t.Errorf("%d readers reconnected only %d times: the faults did not affect them", readerCount, reconnects)
	}
	if code, stdout, stderr := invoke(t, d.env, "check"); code != 0 {
		t.Errorf("check: code %d, printed\n%s%s", code, stdout, stderr)
	}
}

// onlyOf returns the wanted posts in their order.
func onlyOf(wanted, posts []string) []string {
	return slices.DeleteFunc(slices.Clone(posts), func(id string) bool { return !slices.Contains(wanted, id) })
}

// deployment is a cluster with API processes and workers.
type deployment struct {
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

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, cluster: redistest.Cluster(t, redistest.ClusterOptions{Replicas: 1})}
	for _, node := range d.cluster.Nodes() {
		d.nodes = append(d.nodes, node.Client())
	}
	d.env = environment(
		"RETWIS_REDIS_URL="+d.cluster.URL(), "RETWIS_WORKER_LEASE="+chaosLease.String(),
		"RETWIS_DRAIN_TIME=500ms", "RETWIS_LOG_LEVEL=error",
		// More posts than this test creates. Below a full list, a page also contains posts that are not
		// delivered yet, and that arrive live later.
		"RETWIS_HOME_CAP=10000",
	)
	for range 2 {
		d.apis = append(d.apis, d.startAPI())
		d.workers = append(d.workers, d.startWorker())
	}
	t.Cleanup(func() {
		for _, err := range d.errs {
			t.Error(err)
		}
	})
	return d
}

func (d *deployment) startAPI() *process {
	d.t.Helper()
	return serve(d.t, d.env, "--no-worker")
}

func (d *deployment) startWorker() *process {
	d.t.Helper()
	p := launch(d.t, d.env, "worker")
	p.await(p.stdout, "The fan-out worker is ready")
	return p
}

// url returns the URL of an API process. The process may just have ended.
func (d *deployment) url(choice int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.apis[choice%len(d.apis)].url
}

func (d *deployment) replaceAPI(i int, by *process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apis[i] = by
}

// report records the error that ended a user.
func (d *deployment) report(err error) {
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.errs = append(d.errs, err)
	}
}

// fault makes a part fail, and repairs it before inject returns.
type fault struct {
	what   string
	inject func()
}

func (d *deployment) faults() []fault {
	return []fault{
		{"an API process is killed", func() { d.endAPI(syscall.SIGKILL) }},
		{"an API process is stopped", func() { d.endAPI(syscall.SIGTERM) }},
		{"an API process is frozen", func() { d.freeze(d.apis[rand.IntN(len(d.apis))], time.Second) }},
		{"a worker is killed", func() {
			i := rand.IntN(len(d.workers))
			d.workers[i].signal(syscall.SIGKILL)
			d.workers[i].code()
			d.workers[i] = d.startWorker()
		}},
		{"a worker is frozen beyond its lease", func() { d.freeze(d.workers[rand.IntN(len(d.workers))], 2*chaosLease) }},
		{"pub/sub connections break", func() {
			for _, node := range d.nodes {
				if err := node.ClientKillByFilter(d.t.Context(), "TYPE", "pubsub").Err(); err != nil {
					d.t.Fatal(err)
				}
			}
		}},
		{"a master hangs", func() {
			node := d.cluster.Master(rand.IntN(16384))
			node.Pause()
			time.Sleep(500 * time.Millisecond)
			node.Resume()
		}},
		{"a master fails over", func() {
			node := d.cluster.KillMaster(rand.IntN(16384))
			d.cluster.AwaitAvailable()
			node.Start()
			d.cluster.AwaitHealthy()
		}},
	}
}

// endAPI ends an API process and starts another one in its place.
func (d *deployment) endAPI(sig syscall.Signal) {
	d.t.Helper()
	i := rand.IntN(len(d.apis))
	d.apis[i].signal(sig)
	d.apis[i].code()
	d.replaceAPI(i, d.startAPI())
}

func (d *deployment) freeze(p *process, length time.Duration) {
	d.t.Helper()
	p.signal(syscall.SIGSTOP)
	time.Sleep(length)
	p.signal(syscall.SIGCONT)
}
