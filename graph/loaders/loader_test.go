package loaders

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// source reads ten times the key, and records the keys of each read.
type source struct {
	mu    sync.Mutex
	reads [][]int
}

func (s *source) read(_ context.Context, keys []int) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, slices.Clone(keys))
	values := make([]int, len(keys))
	for i, key := range keys {
		values[i] = 10 * key
	}
	return values, nil
}

func testOptions() Options {
	return Options{Wait: time.Millisecond, MaxCollected: 3, MaxAnnounced: 4}
}

func wantValues(t *testing.T, l *Loader[int, int], keys ...int) {
	t.Helper()
	for _, key := range keys {
		if value, err := l.Load(t.Context(), key); err != nil || value != 10*key {
			t.Errorf("Load(%d) = %d, %v, want %d", key, value, err, 10*key)
		}
	}
}

func TestLoader_ReadsBatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		load func(t *testing.T, l *Loader[int, int])
		want [][]int
	}{
		{
			"expected keys are read together, when the first is loaded",
			func(t *testing.T, l *Loader[int, int]) {
				l.Expect([]int{1, 2})
				l.Expect([]int{2, 3})
				wantValues(t, l, 2, 1, 2)
			},
			[][]int{{1, 2}},
		},
		{
			"announced keys are read together, when the first is loaded",
			func(t *testing.T, l *Loader[int, int]) {
				for _, key := range []int{1, 2, 2, 3} {
					l.Announce(key)
				}
				wantValues(t, l, 3, 2, 1)
			},
			[][]int{{1, 2, 3}},
		},
		{
			"keys announced after the read make a new batch",
			func(t *testing.T, l *Loader[int, int]) {
				l.Announce(1)
				wantValues(t, l, 1)
				l.Announce(1)
				l.Announce(2)
				wantValues(t, l, 1, 2)
			},
			[][]int{{1}, {2}},
		},
		{
			"announced batches are bounded",
			func(t *testing.T, l *Loader[int, int]) {
				for key := range 6 {
					l.Announce(key)
				}
				wantValues(t, l, 0, 5)
			},
			[][]int{{0, 1, 2, 3}, {4, 5}},
		},
		{
			"unforeseen keys are collected and read together",
			func(t *testing.T, l *Loader[int, int]) {
				one, two := l.LoadThunk(t.Context(), 1), l.LoadThunk(t.Context(), 2)
				_, _ = one()
				_, _ = two()
				wantValues(t, l, 1, 2)
			},
			[][]int{{1, 2}},
		},
		{
			"collected batches are bounded",
			func(t *testing.T, l *Loader[int, int]) {
				for key := range 4 {
					_ = l.LoadThunk(t.Context(), key)
				}
				wantValues(t, l, 3)
			},
			[][]int{{0, 1, 2}, {3}},
		},
		{
			"primed values are not read",
			func(t *testing.T, l *Loader[int, int]) {
				l.Prime([]int{1, 2}, []int{10, 20})
				l.Announce(2)
				wantValues(t, l, 1, 2, 3)
			},
			[][]int{{3}},
		},
		{
			"keys beyond the linear search are found",
			func(t *testing.T, l *Loader[int, int]) {
				keys := make([]int, maxUnindexed+1)
				for i := range keys {
					keys[i] = i
				}
				l.Expect(keys)
				l.Announce(maxUnindexed)
				l.Announce(1000)
				wantValues(t, l, 1000, 1001, 1001)
			},
			[][]int{{1000}, {1001}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var s source
				l := New(testOptions(), s.read)
				tt.load(t, l)
				synctest.Wait() // for reads in the background
				slices.SortFunc(s.reads, slices.Compare)
				if diff := cmp.Diff(tt.want, s.reads); diff != "" {
					t.Errorf("reads (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLoader_ReturnsTheErrorOfTheReadForAllKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		read Read[int, int]
		want string
	}{
		{"an error", func(context.Context, []int) ([]int, error) { return nil, errors.New("broken") }, "broken"},
		{"too few values", func(context.Context, []int) ([]int, error) { return []int{1}, nil }, "1 values were read for 2 keys"},
		{"a panic", func(context.Context, []int) ([]int, error) { panic("out of order") }, "panic: out of order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := New(testOptions(), tt.read)
				l.Expect([]int{1, 2})
				thunks := []func() (int, error){l.LoadThunk(t.Context(), 3), l.LoadThunk(t.Context(), 4)}
				for _, key := range []int{1, 2} {
					thunks = append(thunks, func() (int, error) { return l.Load(t.Context(), key) })
				}
				for i, thunk := range thunks {
					if _, err := thunk(); err == nil || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("load %d: got the error %v, want %s", i, err, tt.want)
					}
				}
			})
		})
	}
}

func TestLoader_ReportsTheStackOfAPanic(t *testing.T) {
	t.Parallel()
	l := New(testOptions(), func(context.Context, []int) ([]int, error) { panic(1) })
	_, err := l.Load(t.Context(), 1)
	crash, ok := errors.AsType[*PanicError](err)
	if !ok || !strings.Contains(crash.Stack, "loader_test.go") {
		t.Errorf("got %v with the stack %+v", err, crash)
	}
}

func TestLoader_ConcurrentLoadsShareOneRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s source
		l := New(testOptions(), func(ctx context.Context, keys []int) ([]int, error) {
			time.Sleep(time.Second)
			return s.read(ctx, keys)
		})
		l.Expect([]int{1, 2, 3})
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() { wantValues(t, l, i%3+1) })
		}
		wg.Wait()
		if diff := cmp.Diff([][]int{{1, 2, 3}}, s.reads); diff != "" {
			t.Errorf("reads (-want +got):\n%s", diff)
		}
	})
}

// BenchmarkLoader loads the 20 keys of a page in each of the three ways.
func BenchmarkLoader(b *testing.B) {
	keys := make([]int, 20)
	for i := range keys {
		keys[i] = i
	}
	options := Options{Wait: ListWait, MaxCollected: 100, MaxAnnounced: maxAnnounced}
	read := func(_ context.Context, keys []int) ([]int, error) { return keys, nil }
	for _, way := range []struct {
		name    string
		prepare func(l *Loader[int, int])
	}{
		{"expected", func(l *Loader[int, int]) { l.Expect(keys) }},
		{"announced", func(l *Loader[int, int]) {
			for _, key := range keys {
				l.Announce(key)
			}
		}},
		{"collected", func(*Loader[int, int]) {}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l := New(options, read)
				way.prepare(l)
				var thunks [20]func() (int, error)
				for i, key := range keys {
					thunks[i] = l.LoadThunk(b.Context(), key)
				}
				for _, thunk := range thunks {
					if _, err := thunk(); err != nil {
						b.Fatal(fmt.Errorf("load: %w", err))
					}
				}
			}
		})
	}
}

// While operations wait for other keys, the next ones of their network have their turns.
func TestLoader_WaitsWithoutATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := cost.NewShares()
		client := ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}
		var loading sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			meter := cost.NewMeter(cost.Options{Client: client, Shares: shares})
			ctx := cost.With(t.Context(), meter)
			start := time.Now()
			end := meter.TakeTurn(ctx)
			if waited := time.Since(start); waited > 0 {
				t.Errorf("an operation waited for %v", waited)
			}
			l := New(Options{Wait: time.Second, MaxCollected: 3, MaxAnnounced: 4}, new(source).read)
			loading.Go(func() {
				defer end()
				if _, err := l.Load(ctx, 1); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		loading.Wait()
	})
}

// An operation that finds what it needs among the keys that were read goes on with its turn, and the next ones of its network wait.
func TestLoader_KeepsTheTurnForKnownKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := cost.NewShares()
		client := ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}
		l := New(testOptions(), new(source).read)
		wantValues(t, l, 1)
		start := time.Now()
		for range 1 + max(1, runtime.GOMAXPROCS(0)/2) { // more than a network has turns
			meter := cost.NewMeter(cost.Options{Client: client, Shares: shares})
			ctx := cost.With(t.Context(), meter)
			defer meter.TakeTurn(ctx)()
			if _, err := l.Load(ctx, 1); err != nil {
				t.Error(err)
			}
		}
		if time.Since(start) == 0 {
			t.Error("all operations had their turns at once")
		}
	})
}
