// Package operation runs GraphQL operations for every transport. It adds to the executor
// what all transports need: deadlines, metrics, traces, the recovery of panics, and the
// encoding of responses.
package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/roundtrip"
	"retwis/internal/server/requestid"
)

// Timeout bounds the execution of a query or a mutation.
const Timeout = 30 * time.Second

// Runner runs operations on an executor. It recovers from panics, including those of the parser and of the coercion of
// variables.
type Runner struct {
	RunnerOptions
}

// RunnerOptions are what a [Runner] works with. Executor, Log and Metrics are required.
type RunnerOptions struct {
	Executor Executor
	Log      *slog.Logger
	Metrics  *Metrics
	Tracer   trace.Tracer // nil: operations have no spans

	// Unavailable returns what clients see of a failure that passes by itself, and nil for any
	// other error. By default, no failure does.
	Unavailable func(error) *retwis.Error
}

// NewRunner returns a runner.
func NewRunner(options RunnerOptions) *Runner {
	if options.Unavailable == nil {
		options.Unavailable = func(error) *retwis.Error { return nil }
	}
	return &Runner{options}
}

// observe starts the metrics and the span of an operation. The returned function ends
// both.
func (r *Runner) observe(ctx context.Context, op *graphql.OperationContext) (context.Context, func(outcome)) {
	series := r.Metrics.seriesOf(op.Operation)
	start := time.Now()
	ctx, trips := roundtrip.WithCounter(ctx)
	ctx, end := r.span(ctx, op)
	return ctx, func(o outcome) {
		series.observe(o, time.Since(start), trips.Load())
		end(o)
	}
}

// Prepare is [Executor.Prepare]. If it refuses the request, it returns the response that
// gives the reason.
func (r *Runner) Prepare(
	ctx context.Context, params *graphql.RawParams, queriesOnly bool,
) (op *graphql.OperationContext, budget ratelimit.Budget, failure *graphql.Response) {
	defer func() {
		if value := recover(); value != nil {
			op, failure = nil, r.Panicked(ctx, "prepare an operation", value)
		}
		if failure != nil {
			r.Metrics.refused.Inc()
		}
	}()
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, budget, errs := r.Executor.Prepare(graphql.StartOperationTrace(ctx), params, queriesOnly)
	if len(errs) > 0 {
		return nil, budget, r.Executor.DispatchError(graphql.WithOperationContext(ctx, op), errs)
	}
	return op, budget, nil
}

// LargeRequest is the length in bytes from which decoding a request takes longer than refusing it.
const LargeRequest = 16 << 10

// Admit charges a client for the bytes of a request, before they are decoded. Without budget, a request that has a large number of
// bytes is refused. One with fewer, which is decoded before it is refused, waits the longer the more it has. Admit returns nil, or the error for
// the client.
func (r *Runner) Admit(ctx context.Context, bytes, large, price int) *gqlerror.Error {
	if price == 0 && bytes < large {
		return nil
	}
	var err error
	for range 1 + min(bytes, large)/cost.FreeBytes {
		if err = r.Executor.Admit(ctx); err == nil {
			r.Executor.Spend(ctx, price)
			return nil
		}
	}
	if bytes < large {
		return nil
	}
	if shown, ok := errors.AsType[*retwis.Error](err); ok {
		return Refused(shown).Errors[0]
	}
	return r.Failure(ctx, "check a budget", err)
}

// Refused counts and charges a request that the transport refuses after reading its bytes. Without budget it waits.
func (r *Runner) Refused(ctx context.Context, bytes int) {
	r.Metrics.refused.Inc()
	r.Pay(ctx, cost.Refused(bytes))
}

// Pay charges a client for what the transport does without executing an operation. It waits for a while if the client has no
// budget left.
func (r *Runner) Pay(ctx context.Context, points int) {
	if r.Executor.Admit(ctx) == nil {
		r.Executor.Spend(ctx, points)
	}
}

// Run executes a query or a mutation and returns its response.
func (r *Runner) Run(ctx context.Context, op *graphql.OperationContext) (response *graphql.Response) {
	ctx, end := r.observe(ctx, op)
	client := ctx
	defer func() { end(outcomeFor(client, response)) }()
	defer func() {
		if value := recover(); value != nil {
			response = r.Panicked(ctx, "run an operation", value)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	responses, ctx := r.Executor.DispatchOperation(ctx, op)
	response = responses(ctx)
	switch {
	case response == nil && errors.Is(ctx.Err(), context.Canceled):
		// The client is gone, so nobody reads this.
		return &graphql.Response{Errors: gqlerror.List{Errorf(retwis.CodeInternal, "cancelled")}}
	case response == nil:
		return &graphql.Response{Errors: gqlerror.List{
			r.Failure(ctx, "run an operation", errors.Join(errNoResponse, ctx.Err())),
		}}
	case response.HasNext != nil && *response.HasNext:
		// The executor waits until each deferred part is taken.
		for responses(ctx) != nil {
		}
		return &graphql.Response{Errors: gqlerror.List{
			Errorf(retwis.CodeBadUserInput, "@defer is not supported"),
		}}
	}
	return response
}

var errNoResponse = errors.New("the executor has no response")

// Subscribe authorises a subscription for one subscriber. It returns the source of the
// events, or the response that gives the reason of a refusal. Call the source, or [Refuse].
func (r *Runner) Subscribe(ctx context.Context, op *graphql.OperationContext) (source retwis.EventSource, failure *graphql.Response) {
	observed, end := r.observe(ctx, op)
	defer func() {
		if value := recover(); value != nil {
			source, failure = nil, r.Panicked(ctx, "run a subscription", value)
		}
		if failure != nil {
			end(outcomeFor(ctx, failure))
		}
	}()
	events, errs := r.Executor.Subscribe(observed, op)
	if len(errs) > 0 {
		return nil, &graphql.Response{Errors: errs}
	}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		err := events(ctx, after, sink)
		end(r.outcomeOfError(err))
		return err
	}, nil
}

// Refuse ends a subscription that was authorised, and does not start for a reason.
func Refuse(source retwis.EventSource, reason error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	_ = source(ctx, "", nil) // it fails with the reason
}

// Render executes a subscription for an event. It fails if there is no response, above all
// because ctx is done. The payer is charged; Render fails with RATE_LIMITED if it has no budget left.
func (r *Runner) Render(
	ctx context.Context, op *graphql.OperationContext, event retwis.Event, payer, holder ratelimit.Client,
) (response *graphql.Response, err error) {
	defer func() {
		if value := recover(); value != nil {
			response, err = r.Panicked(ctx, "render an event", value), nil
		}
	}()
	response, err = r.Executor.RenderFor(ctx, op, event, payer, holder)
	if err != nil {
		return nil, err
	}
	if response == nil {
		return nil, cmp.Or(context.Cause(ctx), errNoResponse)
	}
	return response, nil
}

// RenderGroup is [Executor.RenderGroup]. It fails if that panics.
func (r *Runner) RenderGroup(ctx context.Context, op *graphql.OperationContext) (key string, size int, perViewer bool, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = r.Panicked(ctx, "compare a subscription", value).Errors[0]
		}
	}()
	key, size, perViewer = r.Executor.RenderGroup(op)
	return key, size, perViewer, nil
}

// Failed returns the response for a subscription whose source ended it with an error.
func (r *Runner) Failed(ctx context.Context, op *graphql.OperationContext, reason error) (response *graphql.Response) {
	defer func() {
		if value := recover(); value != nil {
			response = r.Panicked(ctx, "present the end of a subscription", value)
		}
	}()
	shown, ok := errors.AsType[*gqlerror.Error](reason)
	if !ok {
		shown = gqlerror.Wrap(reason)
	}
	return r.Executor.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{shown})
}

// Panicked logs a panic and returns the response of the operation that panicked.
func (r *Runner) Panicked(ctx context.Context, doing string, value any) *graphql.Response {
	err := fmt.Errorf("panic: %v\n%s", value, debug.Stack())
	return &graphql.Response{Errors: gqlerror.List{r.Failure(ctx, doing, err)}}
}

// Failure logs an error in full and returns one for the client: UNAVAILABLE if the failure passes
// by itself, and otherwise an internal error, which contains only the id of the log line.
func (r *Runner) Failure(ctx context.Context, doing string, err error) *gqlerror.Error {
	if shown := r.Unavailable(err); shown != nil {
		r.Log.WarnContext(ctx, "server: operation failed, the client may retry", "doing", doing, "err", err)
		return Refused(shown).Errors[0]
	}
	id := requestid.New()
	r.Log.ErrorContext(ctx, "internal error", "id", id, "doing", doing, "err", err)
	shown := Errorf(retwis.CodeInternal, "internal error")
	shown.Extensions["id"] = id
	return shown
}

// outcomeOfError is the outcome of a subscription that a source ended.
func (r *Runner) outcomeOfError(err error) outcome {
	if err == nil {
		return succeeded
	}
	if _, shown := errors.AsType[*retwis.Error](err); shown || errors.Is(err, context.Canceled) {
		return failed
	}
	if r.Unavailable(err) != nil {
		return unavailable
	}
	return internalError
}
