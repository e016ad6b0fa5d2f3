package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/retwis"
)

// engine runs operations on the executor, and turns its panics into errors: the parser
// and the coercion of variables run outside the recovery that generated code has.
type engine struct {
	exec    Executor
	log     *slog.Logger
	metrics *operationMetrics
	tracer  trace.Tracer // nil where nothing is traced
}

// observed begins an operation: what it does in Redis is counted, and it has a span. The
// function it returns ends it.
func (e engine) observed(ctx context.Context, op *graphql.OperationContext) (context.Context, func(outcome)) {
	series := e.metrics.of(op.Operation)
	start := time.Now()
	ctx, trips := retwis.WithTally(ctx)
	ctx, end := e.span(ctx, op)
	return ctx, func(o outcome) {
		series.observe(o, time.Since(start), trips.Load())
		end(o)
	}
}

// Executor runs operations, and knows which of them look alike.
type Executor interface {
	graphql.GraphExecutor
	// RenderClass returns a key that subscriptions share when they render each event to
	// the same bytes for the same viewer, and whether the viewer makes a difference. It is
	// empty for those that are not to be compared.
	RenderClass(op *graphql.OperationContext) (key string, ofViewer bool)
}

// prepare parses and validates a request. Where that fails it returns the response
// that says so.
func (e engine) prepare(ctx context.Context, params *graphql.RawParams) (op *graphql.OperationContext, failure *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			op, failure = nil, e.panicked(ctx, "prepare an operation", r)
		}
		if failure != nil {
			e.metrics.refused.Inc()
		}
	}()
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, errs := e.exec.CreateOperationContext(graphql.StartOperationTrace(ctx), params)
	if len(errs) > 0 {
		return nil, e.exec.DispatchError(graphql.WithOperationContext(ctx, op), errs)
	}
	return op, nil
}

// single runs a query or a mutation and returns its one response.
func (e engine) single(ctx context.Context, op *graphql.OperationContext) (response *graphql.Response) {
	ctx, end := e.observed(ctx, op)
	asked := ctx
	defer func() { end(outcomeFor(asked, response)) }()
	defer func() {
		if r := recover(); r != nil {
			response = e.panicked(ctx, "run an operation", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, operationTime)
	defer cancel()
	responses, ctx := e.exec.DispatchOperation(ctx, op)
	response = responses(ctx)
	switch {
	case response == nil && errors.Is(ctx.Err(), context.Canceled):
		// Whoever asked is gone: nobody reads this.
		return &graphql.Response{Errors: gqlerror.List{errorOf(retwis.CodeInternal, "cancelled")}}
	case response == nil:
		return &graphql.Response{Errors: gqlerror.List{
			e.internal(ctx, "run an operation", errors.Join(errors.New("no response"), ctx.Err())),
		}}
	case response.HasNext != nil && *response.HasNext:
		// The executor waits until each deferred part is taken.
		for responses(ctx) != nil {
		}
		return &graphql.Response{Errors: gqlerror.List{
			errorOf(retwis.CodeBadUserInput, "@defer is not supported"),
		}}
	}
	return response
}

// begin dispatches an operation. Its responses are to be taken by next.
func (e engine) begin(ctx context.Context, op *graphql.OperationContext) (responses graphql.ResponseHandler, opCtx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			responses, opCtx = graphql.OneShot(e.panicked(ctx, "run a subscription", r)), ctx
		}
	}()
	return e.exec.DispatchOperation(ctx, op)
}

// next returns the next response, nil when there is none any more. Its data is only good
// until the one after it.
func (e engine) next(ctx context.Context, responses graphql.ResponseHandler) (response *graphql.Response, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			response, panicked = e.panicked(ctx, "run a subscription", r), true
		}
	}()
	return responses(ctx), false
}

// subscription is one that has been let in: either it has a route, or it is run for
// itself and has responses.
type subscription struct {
	route     retwis.Route
	responses graphql.ResponseHandler
	ctx       context.Context
	begun     func(outcome) // to be called once
}

// subscribe has a subscription checked, for one subscriber.
func (e engine) subscribe(ctx context.Context, op *graphql.OperationContext) subscription {
	ctx, begun := e.observed(ctx, op)
	s := subscription{begun: begun}
	s.responses, s.ctx = e.begin(retwis.WithRoute(ctx, func(route retwis.Route) {
		s.route = func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
			err := route(ctx, after, sink)
			begun(outcomeOfError(err))
			return err
		}
	}), op)
	return s
}

// run hands on each response, until the source ends or the context does. A response that
// says why the subscription failed is returned.
func (s subscription) run(e engine, each func(*graphql.Response)) (failure *graphql.Response) {
	for first := true; ; first = false {
		response, panicked := e.next(s.ctx, s.responses)
		if first {
			s.begun(outcomeFor(s.ctx, response))
		}
		switch {
		case response == nil:
			return nil
		case panicked, !isExecuted(response):
			return response
		}
		each(response)
	}
}

// ended returns the response for a subscription whose source gave up.
func (e engine) ended(ctx context.Context, op *graphql.OperationContext, reason error) (response *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			response = e.panicked(ctx, "present the end of a subscription", r)
		}
	}()
	return e.exec.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(reason)})
}

func (e engine) panicked(ctx context.Context, doing string, value any) *graphql.Response {
	err := fmt.Errorf("panic: %v\n%s", value, debug.Stack())
	return &graphql.Response{Errors: gqlerror.List{e.internal(ctx, doing, err)}}
}

// internal logs an error in full and returns one for the client, which finds nothing in
// it but the id of the log line.
func (e engine) internal(ctx context.Context, doing string, err error) *gqlerror.Error {
	id := newID()
	e.log.ErrorContext(ctx, "internal error", "id", id, "doing", doing, "err", err)
	shown := errorOf(retwis.CodeInternal, "internal error")
	shown.Extensions["id"] = id
	return shown
}
