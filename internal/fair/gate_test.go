package fair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// wantUnused verifies that nothing of a gate is in use, and that it keeps nothing.
func wantUnused[K comparable](t *testing.T, g *Gate[K]) {
	t.Helper()
	if g.Used() != 0 || len(g.holders) != 0 || len(g.waiting) != 0 {
		t.Errorf("%d in use, %d holders, %d waiting", g.Used(), len(g.holders), len(g.waiting))
	}
}

func TestGate_ServesALightHolderAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](100, 50)
		for range 1000 {
			go func() { _ = g.Acquire(t.Context(), "heavy", 25) }()
		}
		synctest.Wait()
		if used := g.UsedBy("heavy"); used != 50 {
			t.Fatalf("the heavy holder uses %d, want its share of 50", used)
		}
		for range 5 {
			if err := g.Acquire(t.Context(), "light", 10); err != nil {
				t.Fatal(err)
			}
		}
		if g.Try("other", 1) {
			t.Error("more than the capacity is in use")
		}
		for range 1000 {
			if g.UsedBy("heavy") > 0 {
				g.Release("heavy", 25)
			}
			synctest.Wait()
		}
		for range 5 {
			g.Release("light", 10)
		}
		wantUnused(t, g)
	})
}

func TestGate_HoldersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](1, 1)
		_ = g.Acquire(t.Context(), "first", 1)
		var mu sync.Mutex
		var order []string
		start := func(key string) {
			go func() {
				_ = g.Acquire(t.Context(), key, 1)
				mu.Lock()
				order = append(order, key)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		for _, key := range []string{"a", "a", "a", "b", "c", "b"} {
			start(key)
		}
		g.Release("first", 1)
		for i := range 6 {
			synctest.Wait()
			g.Release(order[i], 1)
		}
		synctest.Wait()
		if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
	})
}

// A part that has used little goes before those that have used much, and by no more than a limit.
func TestGate_PartsOfAHolderGoByWhatTheyHaveUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100
		g := NewGate[string](1, 1)
		var order []string
		ask := func(part string) {
			go func() {
				_ = g.AcquireFor(t.Context(), "holder", part, 1)
				order = append(order, part)
			}()
			synctest.Wait()
		}
		serve := func(parts ...string) {
			t.Helper()
			order = nil
			for range parts {
				g.Release("holder", 1)
				synctest.Wait()
			}
			if !slices.Equal(order, parts) {
				t.Errorf("served %v, want %v", order, parts)
			}
		}
		ask("first")
		g.Charge("holder", "heavy", 50, limit)
		g.Charge("holder", "heavier", 1000, limit)
		ask("heavier")
		ask("heavy")
		ask("other")
		ask("light")
		serve("other", "light", "heavy")
		g.Charge("holder", "heavy", 10, limit)
		ask("heavy")
		ask("new")
		serve("new", "heavy", "heavier") // which has waited for the limit, and not for all of its work
		g.Charge("holder", "heavier", 1, limit)
		ask("late")
		ask("heavier")
		serve("late", "heavier")
		g.Release("holder", 1)
		wantUnused(t, g)
	})
}

// Thousands of parts may be ahead of the others. They are not looked through at each charge, and forgotten once they wait for no other.
func TestGate_ForgetsPartsThatWaitForNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[int](1, 1)
		_ = g.Acquire(t.Context(), 0, 1)
		charge := func(from, to int) int {
			for part := from; part < to; part++ {
				g.Charge(0, part, 10, 100)
			}
			return len(g.holders[0].work)
		}
		if n := charge(1, 3001); n != 3000 {
			t.Fatalf("%d of 3000 parts that are ahead are known", n)
		}
		go func() { _ = g.AcquireFor(t.Context(), 0, 1, 1) }()
		synctest.Wait()
		g.Release(0, 1) // now nobody is ahead of the first part
		synctest.Wait()
		if n := charge(3001, 3001+2*partsKept); n > 2*partsKept {
			t.Errorf("%d parts are known, of which %d are ahead", n, 2*partsKept)
		}
		g.Release(0, 1)
		wantUnused(t, g)
	})
}

// Without a bound of all together, holders do not wait for each other, and nobody looks through those that wait.
func TestGate_WithoutCapacityHoldersWaitForThemselves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](math.MaxInt, 2)
		var order []int
		for i := range 5 {
			go func() {
				_ = g.Acquire(t.Context(), "heavy", 2)
				order = append(order, i)
			}()
			synctest.Wait()
		}
		leaving, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- g.Acquire(leaving, "heavy", 1) }()
		synctest.Wait()
		for range 100 {
			if err := g.Acquire(t.Context(), "light", 2); err != nil {
				t.Fatal(err)
			}
			g.Release("light", 2)
		}
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("a request that is given up: %v", err)
		}
		if len(g.waiting) != 0 || len(order) != 1 {
			t.Errorf("%d holders are looked through, %d requests were granted", len(g.waiting), len(order))
		}
		for range 5 {
			g.Release("heavy", 2)
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("the requests were granted in the order %v", order)
		}
		wantUnused(t, g)
	})
}

// A request that goes first and fits does not wait for the next one, which does not fit.
func TestGate_ASmallRequestOfALightPartDoesNotWaitForALargeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](10, 10)
		_ = g.AcquireFor(t.Context(), "holder", "first", 5)
		g.Charge("holder", "heavy", 50, 100)
		heavy := make(chan error, 1)
		go func() { heavy <- g.AcquireFor(t.Context(), "holder", "heavy", 6) }()
		synctest.Wait()
		if err := g.AcquireFor(t.Context(), "holder", "light", 5); err != nil {
			t.Fatal(err)
		}
		g.Release("holder", 5)
		g.Release("holder", 5)
		if err := <-heavy; err != nil || g.Used() != 6 {
			t.Errorf("%d in use, %v", g.Used(), err)
		}
		g.Release("holder", 6)
	})
}

func TestGate_ForgetsRequestsThatAreGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](10, 10)
		_ = g.Acquire(t.Context(), "a", 10)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- g.Acquire(ctx, "b", 10) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		g.Release("a", 10)
		if !g.Try("c", 10) {
			t.Error("a request that was given up still holds something")
		}
		g.Release("c", 10)
		if err := g.Acquire(t.Context(), "d", 1000); err != nil || g.Used() != 10 {
			t.Errorf("a request above the share: %v, %d in use", err, g.Used())
		}
	})
}

func TestGate_StaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[int](64, 16)
		var group sync.WaitGroup
		for worker := range 40 {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			group.Go(func() {
				key := worker % 7
				for range 200 {
					ctx, cancel := context.WithCancel(t.Context())
					if random.IntN(4) == 0 {
						go cancel()
					}
					n := 1 + random.IntN(20)
					if g.Acquire(ctx, key, n) == nil {
						if used, by := g.Used(), g.UsedBy(key); used > 64 || by > 16 {
							panic(fmt.Sprint(used, " in use, by one ", by))
						}
						g.Release(key, n)
					}
					cancel()
				}
			})
		}
		group.Wait()
		wantUnused(t, g)
	})
}
