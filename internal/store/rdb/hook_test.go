package rdb

import (
	"context"
	"testing"

	"retwis/internal/roundtrip"

	"github.com/redis/go-redis/v9"

	"retwis/internal/store/script"
)

// A round trip without tracing must not allocate in the hook.
func TestHook_DoesNotAllocate(t *testing.T) {
	o := observed(t)
	ctx, counter := roundtrip.WithCounter(t.Context())
	cmd, cmds := scriptCall(o), []redis.Cmder{scriptCall(o), scriptCall(o)}
	single := o.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	pipeline := o.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return nil })
	allocations := testing.AllocsPerRun(100, func() {
		_ = single(ctx, cmd)
		_ = pipeline(ctx, cmds)
	})
	if allocations != 0 {
		t.Errorf("observing two round trips takes %v allocations, want 0", allocations)
	}
	if counter.Load() != 2*101 {
		t.Errorf("%d round trips were counted, want %d", counter.Load(), 2*101)
	}
}

// BenchmarkHook measures the overhead of the hook per round trip.
func BenchmarkHook(b *testing.B) {
	o := observed(b)
	ctx, _ := roundtrip.WithCounter(b.Context())
	b.Run("command", func(b *testing.B) {
		cmd := scriptCall(o)
		single := o.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
		for b.Loop() {
			_ = single(ctx, cmd)
		}
	})
	b.Run("pipeline of 64", func(b *testing.B) {
		var cmds []redis.Cmder
		for range 64 {
			cmds = append(cmds, scriptCall(o))
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

// scriptCall returns a command that calls a script.
func scriptCall(o *hook) redis.Cmder {
	for hash := range o.scripts {
		return redis.NewCmd(context.Background(), "evalsha", hash, 0)
	}
	return nil
}
