package store

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/roundtrip"
)

// observer sees every exchange with Redis, but for those that wait for something to
// happen. A pipeline is one exchange, on a cluster too, where its parts go side by side.
type observer struct {
	metrics *metrics
	scripts map[string]*script // by SHA-1
}

// script is how a program is known outside of Redis. Its metrics are there once it has run.
type script struct {
	name  string
	times func() prometheus.Observer
}

func (s *script) took(seconds float64) { s.times().Observe(seconds) }

func newObserver(s scripts, m *metrics) *observer {
	o := &observer{metrics: m, scripts: map[string]*script{}}
	for name, program := range s.byName {
		times := sync.OnceValue(func() prometheus.Observer { return m.scripts.WithLabelValues(name) })
		o.scripts[program.Hash()] = &script{name, times}
	}
	return o
}

// DialHook implements [redis.Hook].
func (o *observer) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		o.metrics.dials.Inc()
		return next(ctx, network, addr)
	}
}

// ProcessHook implements [redis.Hook].
func (o *observer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		roundtrip.Count(ctx)
		ctx, end := o.span(ctx, cmd)
		start := time.Now()
		err := next(ctx, cmd)
		end(err)
		seconds := time.Since(start).Seconds()
		o.metrics.commands.Observe(seconds)
		if s := o.scriptOf(cmd); s != nil {
			s.took(seconds)
		}
		if isOutage(err) {
			o.metrics.failures.Inc()
		}
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (o *observer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		roundtrip.Count(ctx)
		ctx, end := o.span(ctx, cmds...)
		start := time.Now()
		err := next(ctx, cmds)
		end(err)
		seconds := time.Since(start).Seconds()
		o.metrics.pipelines.Observe(seconds)
		share := seconds / float64(len(cmds))
		for _, cmd := range cmds {
			if s := o.scriptOf(cmd); s != nil {
				s.took(share)
			}
		}
		if isOutage(err) {
			o.metrics.failures.Inc()
		}
		return err
	}
}

// exec runs a pipeline on one node of a cluster, past the client that the observer hooks.
func (o *observer) exec(ctx context.Context, pipe redis.Pipeliner, cmds ...redis.Cmder) error {
	run := o.ProcessPipelineHook(func(ctx context.Context, _ []redis.Cmder) error {
		_, err := pipe.Exec(ctx)
		return err
	})
	return run(ctx, cmds)
}

// scriptOf returns the script that a command runs, nil of other commands.
func (o *observer) scriptOf(cmd redis.Cmder) *script {
	if cmd.Name() != "evalsha" {
		return nil
	}
	hash, _ := cmd.Args()[1].(string)
	return o.scripts[hash]
}

// isOutage reports whether an error is of the connection, the server or the cluster, and
// not an answer; nor that a script is to be loaded first.
func isOutage(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !errors.Is(err, context.Canceled) && !answered(err) &&
		!redis.HasErrorPrefix(err, "NOSCRIPT")
}
