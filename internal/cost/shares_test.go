package cost

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// Heavy queries of any number of clients leave half of the cores to light queries, mutations and events.
func TestShares_HeavyQueriesDoNotDelayLightOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		key := func(n int) ratelimit.Key { return ratelimit.Key{Name: fmt.Sprint(n)} }
		for n := range 20 {
			for range 5 {
				go func() {
					if done, err := s.RunQuery(ctx, key(n), maxLight+1); err == nil {
						<-ctx.Done()
						done()
					}
				}()
			}
		}
		synctest.Wait()
		if used, want := s.heavy.Used(), max(1, runtime.GOMAXPROCS(0)/2); used != want {
			t.Errorf("%d heavy queries run, want %d", used, want)
		}
		for n := range 20 {
			if running := s.heavy.UsedBy(key(n)); running > 1 {
				t.Errorf("%d heavy queries of one client run", running)
			}
		}
		light, err := s.RunQuery(ctx, key(0), maxLight)
		if err != nil {
			t.Fatal(err)
		}
		mutation, err := s.Run(ctx, key(1), pointsOfHolder)
		if err != nil {
			t.Fatal(err)
		}
		mutation()
		light()
		cancel()
		synctest.Wait()
		if s.heavy.Used() != 0 || s.light.Used() != 0 {
			t.Errorf("%d heavy queries and %d points are still counted", s.heavy.Used(), s.light.Used())
		}
	})
}

// Long exchanges of any number of clients leave Redis to short ones.
func TestEnter_LongExchangesDoNotDelayShortOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		operation := func(n int) context.Context {
			return With(ctx, NewMeter(Options{Holder: ratelimit.Key{Name: fmt.Sprint(n)}, Shares: s, Charge: func(int) error { return nil }}))
		}
		worked := operation(100) // an operation that has done much
		if err := Walk(worked, (longWork+1)*RowsPerPoint); err != nil {
			t.Fatal(err)
		}
		enter := func(ctx context.Context, units int) {
			if leave, err := Enter(ctx, units); err == nil {
				<-ctx.Done()
				leave()
			}
		}
		for n := range 20 {
			for range 5 {
				go enter(operation(n), WalkUnits)
			}
		}
		go enter(worked, RedisPiece)
		synctest.Wait()
		if used := s.long.Used(); used != longRedisInFlight {
			t.Errorf("%d units of long exchanges are in flight, want %d", used, longRedisInFlight)
		}
		if used := s.redis.Used(); used != 0 {
			t.Errorf("long exchanges use %d units of short ones", used)
		}
		leave, err := Enter(operation(0), RedisPiece)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		cancel()
		synctest.Wait()
		if s.long.Used() != 0 || s.redis.Used() != 0 {
			t.Errorf("%d and %d units are still counted", s.long.Used(), s.redis.Used())
		}
	})
}

// Short exchanges and light operations have bounds of their own: for one holder, and for all of them together.
func TestShares_BoundShortExchangesAndLightOperations(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gate            func(*Shares) *fair.Gate[ratelimit.Key]
		pass            func(context.Context, *Shares, ratelimit.Key) (func(), error)
		ofHolder, ofAll int
	}{
		"exchanges": {
			gate: func(s *Shares) *fair.Gate[ratelimit.Key] { return s.redis },
			pass: func(ctx context.Context, s *Shares, key ratelimit.Key) (func(), error) {
				m := NewMeter(Options{Holder: key, Shares: s, Charge: func(int) error { return nil }})
				return Enter(With(ctx, m), RedisPiece)
			},
			ofHolder: redisOfHolder, ofAll: redisInFlight,
		},
		"operations": {
			gate: func(s *Shares) *fair.Gate[ratelimit.Key] { return s.light },
			pass: func(ctx context.Context, s *Shares, key ratelimit.Key) (func(), error) {
				return s.RunQuery(ctx, key, maxLight)
			},
			ofHolder: pointsOfHolder, ofAll: pointsPerCore * runtime.GOMAXPROCS(0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := NewShares()
				ask := func(holder string) {
					for range 100 {
						go func() {
							if leave, err := tt.pass(ctx, s, ratelimit.Key{Name: holder}); err == nil {
								<-ctx.Done()
								leave()
							}
						}()
					}
					synctest.Wait()
				}
				ask("heavy")
				if used := tt.gate(s).Used(); used != tt.ofHolder {
					t.Errorf("one holder uses %d, want %d", used, tt.ofHolder)
				}
				for n := range 2 * tt.ofAll / tt.ofHolder {
					ask(fmt.Sprint(n))
				}
				if used := tt.gate(s).Used(); used != tt.ofAll {
					t.Errorf("all holders use %d, want %d", used, tt.ofAll)
				}
				cancel()
				synctest.Wait()
				if used := tt.gate(s).Used(); used != 0 {
					t.Errorf("%d are still counted", used)
				}
			})
		})
	}
}
