package rdb

import (
	"context"
	"errors"
	"testing"

	"retwis/internal/cost"
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

// Commands behind a piece that succeeded, or that found nothing, just before the context ended had neither a value nor an error.
func TestHook_FailsTheRestOfAPipelineWhoseContextEnds(t *testing.T) {
	t.Parallel()
	o := observed(t)
	for _, of := range []error{nil, redis.Nil} {
		ctx, cancel := context.WithCancel(cost.With(t.Context(), cost.NewMeter(cost.Options{Shares: cost.NewShares()})))
		sent := 0
		pipeline := o.ProcessPipelineHook(func(_ context.Context, cmds []redis.Cmder) error {
			sent += len(cmds)
			cancel()
			return of
		})
		cmds := make([]redis.Cmder, 3*cost.RedisPiece)
		for i := range cmds {
			cmds[i] = redis.NewSliceCmd(ctx, "hmget", "key", "field")
		}
		if err := pipeline(ctx, cmds); !errors.Is(err, context.Canceled) {
			t.Errorf("the pipeline returns %v", err)
		}
		if sent == 0 || sent == len(cmds) {
			t.Fatalf("%d of %d commands were sent", sent, len(cmds))
		}
		for i, cmd := range cmds[sent:] {
			if !errors.Is(cmd.Err(), context.Canceled) {
				t.Fatalf("command %d was not sent, and its error is %v", sent+i, cmd.Err())
			}
		}
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
	return newHook(scripts, newMetrics(nil), new(recentUse))
}

// scriptCall returns a command that calls a script.
func scriptCall(o *hook) redis.Cmder {
	for hash := range o.scripts {
		return redis.NewCmd(context.Background(), "evalsha", hash, 0)
	}
	return nil
}
