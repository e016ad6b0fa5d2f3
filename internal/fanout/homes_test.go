package fanout_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/store"
)

// comeAndGo runs short-lived workers that constantly take over outboxes from each other, until
// settle is called.
func (e *engine) ComeAndGo(r *rand.Rand) (settle func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, stop := e.Work(fanout.Options{Lease: enginetest.ShortLease})
			select {
			case <-over:
				return
			case <-time.After(time.Duration(r.IntN(100)) * time.Millisecond):
			}
			stop()
		}
	}()
	return func() { close(over); <-done }
}

func TestHomes_EqualTheirDefinitionAfterRandomActions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options store.Options
	}{
		{"room for all", store.Options{HomeCap: 20_000}},
		{"small homes", store.Options{HomeCap: 60, Slack: 20, Chunk: 5}},
		{"large authors", store.Options{HomeCap: 20_000, PullAbove: 6, Chunk: 5}},
		{"large authors, small homes", store.Options{HomeCap: 60, Slack: 20, PullAbove: 6, Chunk: 5, Partitions: redistest.Size(16, 64)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL, options.DeletedAccountTTL = url, enginetest.ShortAccountTTL
				e := newEngine(t, options)
				e.Work(fanout.Options{Lease: enginetest.ShortLease})
				r := redistest.Rand(t)
				settle := e.ComeAndGo(rand.New(rand.NewPCG(r.Uint64(), 1)))
				m := enginetest.NewModel(e.Crowd("user", redistest.Size(80, 200)))
				const goroutines = 8
				var wg sync.WaitGroup
				for g := range goroutines {
					own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
					wg.Go(func() {
						for range redistest.Size(500, 20_000) / goroutines {
							if options.Slack > 0 {
								e.LetCatchUp()
							}
							user := m.People[own.IntN(len(m.People)/goroutines)*goroutines+g]
							if err := m.Act(e.Engine, own, user); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				settle()
				e.Drain()
				t.Logf("%d accounts were deleted", len(m.Gone))
				m.Verify(e.Engine, options.HomeCap, max(options.Slack, 1))
				e.IsSound()
			})
		})
	}
}
