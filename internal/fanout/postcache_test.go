package fanout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// cachedPages are several processes that cache posts, and users who use any of them.
type cachedPages struct {
	*engine
	processes        []*engine
	client           redis.UniversalClient
	authors, readers []retwis.UserID
	metrics          *prometheus.Registry // of the first process
}

func newCachedPages(t *testing.T, options store.Options) *cachedPages {
	t.Helper()
	e := newEngine(t, options)
	p := &cachedPages{engine: e, client: enginetest.Client(t, options.URL), authors: e.Apart(4), readers: e.Crowd("reader", 6), metrics: prometheus.NewRegistry()}
	e.Work(fanout.Options{})
	for _, reader := range p.readers {
		for _, author := range p.authors {
			e.Follow(reader, author)
		}
	}
	e.Drain()
	for _, metrics := range []prometheus.Registerer{p.metrics, nil, nil} {
		options.Metrics = metrics
		p.processes = append(p.processes, newEngine(t, options))
	}
	return p
}

// removed returns the removals in the partition of a reader, by post; nil during an outage.
func (p *cachedPages) removed(reader retwis.UserID) map[retwis.PostID]string {
	changes, err := p.client.XRange(p.T.Context(), p.DB().OfUser(reader).Changes(), "-", "+").Result()
	if err != nil {
		return nil
	}
	found := map[retwis.PostID]string{}
	for _, c := range changes {
		text, _ := c.Values["removed"].(string)
		if post, err := retwis.ParsePostID(text); err == nil {
			found[post] = c.ID
		}
	}
	return found
}

// write creates posts of an author and deletes some of the latest. A failover may refuse both.
func (p *cachedPages) write(r *rand.Rand, author retwis.UserID, round, posts int) {
	var made []retwis.PostID
	for i := range posts {
		process := p.processes[r.IntN(len(p.processes))]
		edge, err := process.Posts.CreatePost(p.T.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: fmt.Sprint(round, ":", i)})
		if err == nil {
			made = append(made, edge.Post.ID)
		}
		if n := len(made); n > 0 && r.IntN(2) == 0 {
			at := max(0, n-1-r.IntN(5))
			_ = p.processes[r.IntN(len(p.processes))].Posts.DeletePost(p.T.Context(), author, made[at])
			made = slices.Delete(made, at, at+1)
		}
	}
}

// read reads a home in a random process, and verifies that it shows no post whose removal its partition had before and after.
func (p *cachedPages) read(r *rand.Rand, reader retwis.UserID) {
	before := p.removed(reader)
	page, err := p.processes[r.IntN(len(p.processes))].Timelines.Page(p.T.Context(), retwis.Home(reader), retwis.Page{First: 20})
	if err != nil {
		return
	}
	after := p.removed(reader)
	for _, edge := range page.Edges {
		if id := before[edge.Post.ID]; id != "" && after[edge.Post.ID] == id {
			p.T.Errorf("a page of %s shows post %s, whose removal %s had reached its partition", reader, edge.Post.ID, id)
		}
	}
}

// run lets authors write and readers read until the authors are done, and causes a fault meanwhile.
func (p *cachedPages) run(seed uint64, round, posts int, fault func()) {
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	for i, author := range p.authors {
		writers.Go(func() { p.write(rand.New(rand.NewPCG(seed, uint64(i))), author, round, posts) })
	}
	for i, reader := range p.readers {
		readers.Go(func() {
			for r := rand.New(rand.NewPCG(seed, uint64(100+i))); !done.Load(); {
				p.read(r, reader)
			}
		})
	}
	fault()
	writers.Wait()
	done.Store(true)
	readers.Wait()
}

// verify waits until all deletions are delivered, and verifies that the processes show the posts that exist.
func (p *cachedPages) verify() {
	p.T.Helper()
	p.Drain()
	for _, reader := range p.readers {
		var want []retwis.PostID
		for _, author := range p.authors {
			want = append(want, p.Read(retwis.Profile(author))...)
		}
		want = enginetest.Newest(want)
		for _, process := range p.processes {
			if got := enginetest.Newest(process.Read(retwis.Home(reader))); !slices.Equal(got, want) {
				p.T.Errorf("the home of %s shows %v, want %v", reader, got, want)
			}
		}
	}
	if value(p.T, p.metrics, "retwis_post_cache_reads_total", "hit") == 0 {
		p.T.Error("no post was read from a cache")
	}
}

func TestPages_ShowNoPostWhoseDeletionReachedThePartition(t *testing.T) {
	t.Parallel()
	p := newCachedPages(t, store.Options{URL: redistest.Server(t).URL()})
	p.run(redistest.Rand(t).Uint64(), 0, redistest.Size(60, 2000), func() {})
	p.verify()
}

// Replicas that lack the latest changes of their partitions take over from their masters.
func TestPages_ShowNoDeletedPostAfterFailovers(t *testing.T) {
	t.Parallel()
	const masters = 3
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: masters, Replicas: 1})
	awaitReplicasKnown(t, cluster)
	// After a failover, workers may deliver a whole window of posts again. The check expects as many late entries in a list as
	// its slack.
	const slack = 1000
	p := newCachedPages(t, store.Options{URL: cluster.URL(), Slack: slack})
	r := redistest.Rand(t)
	for round := range redistest.Size(1, masters) {
		replica := cluster.Nodes()[masters+round].Client()
		p.run(r.Uint64(), round, redistest.Size(60, 500), func() {
			p.read(r, p.readers[0])
			cutOff(t, replica)
			for range 20 {
				p.read(r, p.readers[r.IntN(len(p.readers))]) // while the replica falls behind
			}
			if err := replica.Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err(); err != nil {
				t.Error(err)
			}
			replica.ConfigSet(t.Context(), "masterauth", "")
		})
		cluster.AwaitAvailable()
	}
	p.verify()

	p.IsSound()
}
