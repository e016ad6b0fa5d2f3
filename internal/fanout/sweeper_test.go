package fanout_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// sweep evicts idle timelines and returns their number.
func (e *engine) sweep() int {
	e.T.Helper()
	evicted := 0
	err := e.Sweeps.EvictIdle(e.T.Context(), func(_ context.Context, _, removed int) error {
		evicted += removed
		return nil
	})
	if err != nil {
		e.T.Fatal(err)
	}
	return evicted
}

// daysAgo returns a day in the format of the stored day of the last read.
func daysAgo(n int) int64 { return time.Now().Unix()/86400 - int64(n) }

// readOn sets the day on which a timeline was last read.
func (e *engine) readOn(client redis.UniversalClient, id retwis.TimelineID, day int64) {
	e.T.Helper()
	if err := client.HSet(e.T.Context(), e.ownerKey(client, id), "last_read", day).Err(); err != nil {
		e.T.Fatal(err)
	}
}

// ownerKey returns the key of the hash that holds the day of a timeline's last read.
func (e *engine) ownerKey(client redis.UniversalClient, id retwis.TimelineID) string {
	e.T.Helper()
	pattern := "*:user:" + id.Owner.String()
	if id.Kind == retwis.ListTimeline {
		pattern = "*:list:" + id.Owner.String()
	}
	found := enginetest.Keys(e.T, client, pattern)
	if len(found) != 1 {
		e.T.Fatalf("keys like %s: %v", pattern, found)
	}
	return found[0]
}

func TestSweep_EvictsIdleHomesUntilTheyAreRead(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 20, Slack: 3})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		author := e.Register("author")[0]
		readers := e.Register("idle", "late", "never", "new", "watching")
		idle, late, never, watching := readers[0], readers[1], readers[2], readers[4]
		for _, reader := range readers {
			e.Follow(reader, author)
		}
		members := retwis.ListPosts(e.CreateList(idle, author))
		var want []retwis.PostID
		for range 50 {
			want = append(want, e.Post(author, "x"))
		}
		e.Drain()
		for _, id := range []retwis.TimelineID{retwis.Home(idle), members, retwis.Home(late), retwis.Home(watching)} {
			e.readOn(client, id, daysAgo(31))
		}
		e.readOn(client, retwis.Home(late), daysAgo(29)) // a change of day during the test makes no difference
		created := time.Now().Add(-32 * 24 * time.Hour).UnixMilli()
		if err := client.HSet(t.Context(), e.ownerKey(client, retwis.Home(never)), "created", created).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Live.SetOnline(t.Context(), "node", []retwis.TimelineID{retwis.Home(watching)}, time.Hour); err != nil {
			t.Fatal(err)
		}

		if n := e.sweep(); n != 3 {
			t.Errorf("%d timelines were evicted, want 3", n)
		}
		var left []string
		for _, key := range append(enginetest.Keys(t, client, "*:home:*"), enginetest.Keys(t, client, "*:posts")...) {
			_, name, _ := strings.Cut(key, "}:")
			left = append(left, name)
		}
		slices.Sort(left)
		var stay []string
		for _, user := range []retwis.UserID{author, late, readers[3], watching} {
			stay = append(stay, "home:"+user.String())
		}
		slices.Sort(stay)
		if !slices.Equal(left, stay) {
			t.Errorf("timelines after the sweep: %v, want %v", left, stay)
		}
		e.IsSound()

		// Delivery skips evicted homes, and the first read of each rebuilds it completely.
		want = append(want, e.Post(author, "while they were idle"))
		e.Drain()
		for _, id := range []retwis.TimelineID{retwis.Home(idle), members, retwis.Home(never)} {
			if got := enginetest.Keys(t, client, "*:home:"+id.Owner.String()); len(got) > 0 {
				t.Errorf("%v exists before the first read", got)
			}
			page, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 10})
			if err != nil {
				t.Fatal(err)
			}
			var got []retwis.PostID
			for _, edge := range page.Edges {
				got = append(got, edge.Post.ID)
			}
			if !slices.Equal(got, enginetest.Newest(want)[:10]) || !page.HasNextPage {
				t.Errorf("first page of %s: %v, want %v", id, got, enginetest.Newest(want)[:10])
			}
			if got := e.Read(id); !slices.Equal(got, enginetest.Newest(want)) {
				t.Errorf("all of %s: %d posts, want %d", id, len(got), len(want))
			}
			if day, err := client.HGet(t.Context(), e.ownerKey(client, id), "last_read").Int64(); err != nil || day < daysAgo(1) {
				t.Errorf("%s was last read on day %d, %v", id, day, err)
			}
		}
		if n := e.sweep(); n > 0 {
			t.Errorf("%d timelines were evicted right after they were read", n)
		}
		e.IsSound()
	})
}

func TestSweep_RepeatedEvictionsLoseAndDuplicateNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options store.Options
	}{
		{"room for all", store.Options{HomeCap: 20_000}},
		{"small homes, large authors", store.Options{HomeCap: 60, Slack: 20, PullAbove: 6, Chunk: 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL, options.DeletedAccountTTL = url, enginetest.ShortAccountTTL
				e := newEngine(t, options)
				e.Work(fanout.Options{})
				client := enginetest.Client(t, url)
				r := redistest.Rand(t)
				m := enginetest.NewModel(e.Crowd("user", 40))
				hashes := enginetest.Keys(t, client, "*:user:*")
				const goroutines = 4
				var acting, sweeping sync.WaitGroup
				done := make(chan struct{})
				gone := 0
				sweeping.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						for _, hash := range hashes {
							// Only if the user exists: otherwise the write would create an incomplete account.
							if there, err := client.Exists(t.Context(), hash).Result(); err == nil && there == 1 {
								client.HSet(t.Context(), hash, "last_read", 1)
							}
						}
						gone += e.sweep()
					}
				})
				for g := range goroutines {
					own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
					acting.Go(func() {
						for range redistest.Size(1000, 20_000) / goroutines {
							e.LetCatchUp()
							user := m.People[own.IntN(len(m.People)/goroutines)*goroutines+g]
							err := m.Act(e.Engine, own, user)
							if err == nil && own.IntN(4) == 0 && !m.HasLeft(user) {
								_, err = e.Timelines.Page(t.Context(), retwis.Home(user), retwis.Page{First: 10})
							}
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				acting.Wait()
				close(done)
				sweeping.Wait()
				e.Drain()
				if gone < len(m.People) {
					t.Errorf("%d timelines were evicted, want at least %d", gone, len(m.People))
				}
				t.Logf("%d timelines were evicted", gone)
				// The test may have written to a user's hash just after the end of the account.
				for user := range m.Gone {
					client.Del(t.Context(), enginetest.Keys(t, client, "*:user:"+user.String())...)
				}
				m.Verify(e.Engine, options.HomeCap, max(options.Slack, 1))
				e.IsSound()
			})
		})
	}
}

func TestSweeper_OnlyOneSweepsAtATime(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.Crowd("user", 5)
		client := enginetest.Client(t, url)
		for _, user := range people[:3] {
			e.readOn(client, retwis.Home(user), daysAgo(40))
		}
		// A sweeper starts and dies.
		const lease = time.Minute
		if turn, err := e.Sweeps.AcquireSweep(t.Context(), "dead", lease, time.Hour); err != nil || !turn {
			t.Fatal(turn, err)
		}
		if turn, err := e.Sweeps.AcquireSweep(t.Context(), "another", lease, time.Hour); err != nil || turn {
			t.Fatal("two sweepers hold the lease", err)
		}
		if turn, err := e.Sweeps.AcquireSweep(t.Context(), "dead", time.Millisecond, time.Hour); err != nil || !turn {
			t.Fatal(turn, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var sweepers []*fanout.Sweeper
		var running sync.WaitGroup
		for range 4 {
			s := fanout.NewSweeper(e.Sweeps, fanout.SweeperOptions{
				Every: time.Hour, CheckEvery: 5 * time.Millisecond, Lease: lease, Pause: time.Millisecond,
			})
			sweepers = append(sweepers, s)
			running.Go(func() { _ = s.Run(ctx) })
		}
		total := func() (all fanout.SweepStats) {
			for _, s := range sweepers {
				stats := s.Stats()
				all.Sweeps += stats.Sweeps
				all.Scanned += stats.Scanned
				all.Evicted += stats.Evicted
			}
			return all
		}
		for deadline := time.Now().Add(time.Minute); total().Sweeps == 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no sweeper completed a sweep")
			}
		}
		cancel()
		running.Wait()
		// A scan may return a key more than once.
		if got := total(); got.Sweeps != 1 || got.Scanned < 5 || got.Evicted != 3 {
			t.Errorf("sweepers: %+v, want one sweep that evicts 3 of 5 timelines", got)
		}
		if turn, err := e.Sweeps.AcquireSweep(t.Context(), "later", lease, time.Hour); err != nil || turn {
			t.Errorf("sweep due right after one: %v, %v", turn, err)
		}
		if turn, err := e.Sweeps.AcquireSweep(t.Context(), "later", lease, 0); err != nil || !turn {
			t.Errorf("sweep due with interval 0: %v, %v, want true", turn, err)
		}
	})
}
