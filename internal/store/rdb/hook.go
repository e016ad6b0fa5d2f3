package rdb

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/fair"
	"retwis/internal/retwis"
	"retwis/internal/roundtrip"
	"retwis/internal/store/script"
)

// hook observes every round trip to Redis except blocking commands. A pipeline is one round trip, also on a
// cluster, where its parts run concurrently.
type hook struct {
	metrics *metrics
	scripts map[string]*program      // by SHA-1
	tasks   *fair.Gate[retwis.Actor] // exchanges of tasks in flight, by network: see [hook.enterTask]

	operations *recentUse
}

// program identifies a script in metrics and traces. Its metric is created when the script first runs.
type program struct {
	name    string
	script  script.Name
	prepaid bool // it reads the session, which is a part of the price of a request
	counts  bool // it returns how many rows it has visited
	times   func() prometheus.Observer
}

func (s *program) took(seconds float64) { s.times().Observe(seconds) }

func newHook(scripts map[script.Name]*redis.Script, m *metrics, operations *recentUse) *hook {
	h := &hook{
		metrics: m, scripts: map[string]*program{}, tasks: fair.NewGate[retwis.Actor](taskExchanges, taskExchanges), operations: operations,
	}
	for name, s := range scripts {
		times := sync.OnceValue(func() prometheus.Observer { return m.scripts.WithLabelValues(name.Base()) })
		h.scripts[s.Hash()] = &program{name.Base(), name, name == script.FindSession, name.CountsRows(), times}
	}
	return h
}

// unitsOf returns the units of work in Redis of a script with so many keys and arguments. One that walks over followers takes as long as a hundred
// commands, and one that searches 50 profiles as well.
func unitsOf(name script.Name, arguments int) int {
	switch name {
	case script.ReadProfiles:
		return cost.ScriptUnits + arguments/2*cost.ProfileUnits // a key and a place of each
	case script.LookUpScores, script.LookUpValues:
		return cost.ScriptUnits + arguments/8
	case script.CommonFollowers:
		return cost.WalkUnits
	case script.FindUsers:
		return cost.FindUnits
	case script.EventsSince, script.CompareTimelines, script.StoreDocument:
		return cost.SearchUnits
	case script.FindSession:
		return cost.SessionUnits
	}
	return cost.ScriptUnits
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
	observed := h.observe(next)
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cost.Of(ctx) == nil {
			ctx, leave := h.enterTask(ctx)
			defer leave()
			return observed(ctx, cmd)
		}
		return h.metered(ctx, []redis.Cmder{cmd}, func(ctx context.Context) error { return observed(ctx, cmd) })
	}
}

func (h *hook) observe(next redis.ProcessHook) redis.ProcessHook {
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

// ProcessPipelineHook implements [redis.Hook]. It sends the pipeline of an operation in pieces: a server executes a whole
// pipeline before it serves other connections.
func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	observed := h.observePipeline(next)
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cost.Of(ctx) == nil || cmds[0].Name() == "multi" {
			ctx, leave := h.enterTask(ctx)
			defer leave()
			return observed(ctx, cmds)
		}
		var failed error
		for rest := cmds; len(rest) > 0; {
			piece := rest[:h.pieceLength(rest)]
			rest = rest[len(piece):]
			err := h.metered(ctx, piece, func(ctx context.Context) error { return observed(ctx, piece) })
			if failed == nil {
				failed = err
			}
			stop := ctx.Err() // the piece may have succeeded just before
			if stop == nil && isOutage(err) {
				stop = err
			}
			if stop != nil && len(rest) > 0 {
				setErrors(rest, stop)
				return stop
			}
		}
		return failed
	}
}

func (h *hook) observePipeline(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
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

// exec runs a pipeline on one node of a cluster. The client of a node has no hook, so exec calls it. Such a pipeline waits for replicas, for a
// second if they do not answer. So it has no part in what is in flight: others would wait for the replicas, too.
func (h *hook) exec(ctx context.Context, pipe redis.Pipeliner, cmds ...redis.Cmder) error {
	if cost.Of(ctx) != nil {
		h.operations.note()
	}
	run := h.observePipeline(func(ctx context.Context, _ []redis.Cmder) error {
		_, err := pipe.Exec(ctx)
		return err
	})
	return run(ctx, cmds)
}

// scriptOf returns the script that a command runs, nil for other commands.
func (h *hook) scriptOf(cmd redis.Cmder) *program {
	if !isScript(cmd) {
		return nil
	}
	hash, _ := cmd.Args()[1].(string)
	if cmd.Name() == "eval" { // the server has not loaded the script
		hash = redis.NewScript(hash).Hash()
	}
	return h.scripts[hash]
}

// isOutage reports whether an error is a failure of the connection, the server or the cluster. Replies of a
// command and NOSCRIPT, which asks for the text of the script, are not.
func isOutage(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !errors.Is(err, context.Canceled) && !Answered(err) &&
		!redis.HasErrorPrefix(err, "NOSCRIPT")
}
