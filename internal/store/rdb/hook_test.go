package rdb

import (
	"context"
	"testing"

	"retwis/internal/roundtrip"

	"github.com/redis/go-redis/v9"

	"retwis/internal/store/script"
)

// TestWhatIsObservedCostsNoMemory exchanges with a Redis that takes no time, while nothing
// is traced.
func TestWhatIsObservedCostsNoMemory(t *testing.T) {
	o := observed(t)
	ctx, tally := roundtrip.WithCounter(t.Context())
	cmd, cmds := aCall(o), []redis.Cmder{aCall(o), aCall(o)}
	single := o.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	pipeline := o.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return nil })
	allocations := testing.AllocsPerRun(100, func() {
		_ = single(ctx, cmd)
		_ = pipeline(ctx, cmds)
	})
	if allocations != 0 {
		t.Errorf("to observe two exchanges takes %v allocations", allocations)
	}
	if tally.Load() != 2*101 {
		t.Errorf("%d exchanges were counted, want %d", tally.Load(), 2*101)
	}
}

// BenchmarkHook measures what the observation of an exchange adds to it.
func BenchmarkHook(b *testing.B) {
	o := observed(b)
	ctx, _ := roundtrip.WithCounter(b.Context())
	b.Run("command", func(b *testing.B) {
		cmd := aCall(o)
		single := o.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
		for b.Loop() {
			_ = single(ctx, cmd)
		}
	})
	b.Run("pipeline of 64", func(b *testing.B) {
		var cmds []redis.Cmder
		for range 64 {
			cmds = append(cmds, aCall(o))
		}
		pipeline := o.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return nil })
		for b.Loop() {
			_ = pipeline(ctx, cmds)
		}
	})
}

func observed(tb testing.TB) *hook {
	tb.Helper()
	scripts, err := script.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return newHook(scripts, newMetrics(nil))
}

// aCall is a call of a script.
func aCall(o *hook) redis.Cmder {
	for hash := range o.scripts {
		return redis.NewCmd(context.Background(), "evalsha", hash, 0)
	}
	return nil
}
