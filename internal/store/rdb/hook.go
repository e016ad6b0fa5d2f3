package rdb

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"retwis/internal/roundtrip"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/store/script"
)

// hook sees every exchange with Redis, but for those that wait for something to
// happen. A pipeline is one exchange, on a cluster too, where its parts go side by side.
type hook struct {
	metrics *metrics
	scripts map[string]*program // by SHA-1
}

// program is how a program is known outside of Redis. Its metrics are there once it has run.
type program struct {
	name  string
	times func() prometheus.Observer
}

func (s *program) took(seconds float64) { s.times().Observe(seconds) }

func newHook(scripts map[script.Name]*redis.Script, m *metrics) *hook {
	h := &hook{metrics: m, scripts: map[string]*program{}}
	for name, s := range scripts {
		times := sync.OnceValue(func() prometheus.Observer { return m.scripts.WithLabelValues(name.Base()) })
		h.scripts[s.Hash()] = &program{name.Base(), times}
	}
	return h
}

// DialHook implements [redis.Hook].
func (h *hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		h.metrics.dials.Inc()
		return next(ctx, network, addr)
	}
}

// ProcessHook implements [redis.Hook].
func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		roundtrip.Count(ctx)
		ctx, end := h.span(ctx, cmd)
		start := time.Now()
		err := next(ctx, cmd)
		end(err)
		seconds := time.Since(start).Seconds()
		h.metrics.commands.Observe(seconds)
		if s := h.scriptOf(cmd); s != nil {
			s.took(seconds)
		}
		if isOutage(err) {
			h.metrics.failures.Inc()
		}
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		roundtrip.Count(ctx)
		ctx, end := h.span(ctx, cmds...)
		start := time.Now()
		err := next(ctx, cmds)
		end(err)
		seconds := time.Since(start).Seconds()
		h.metrics.pipelines.Observe(seconds)
		share := seconds / float64(len(cmds))
		for _, cmd := range cmds {
			if s := h.scriptOf(cmd); s != nil {
				s.took(share)
			}
		}
		if isOutage(err) {
			h.metrics.failures.Inc()
		}
		return err
	}
}

// exec runs a pipeline on one node of a cluster, past the client that the hook hooks.
func (h *hook) exec(ctx context.Context, pipe redis.Pipeliner, cmds ...redis.Cmder) error {
	run := h.ProcessPipelineHook(func(ctx context.Context, _ []redis.Cmder) error {
		_, err := pipe.Exec(ctx)
		return err
	})
	return run(ctx, cmds)
}

// scriptOf returns the script that a command runs, nil of other commands.
func (h *hook) scriptOf(cmd redis.Cmder) *program {
	if cmd.Name() != "evalsha" {
		return nil
	}
	hash, _ := cmd.Args()[1].(string)
	return h.scripts[hash]
}

// isOutage reports whether an error is of the connection, the server or the cluster, and
// not an answer; nor that a script is to be loaded first.
func isOutage(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !errors.Is(err, context.Canceled) && !Answered(err) &&
		!redis.HasErrorPrefix(err, "NOSCRIPT")
}
