package server

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

	"retwis/internal/retwis"
	"retwis/internal/roundtrip"
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
	ctx, trips := roundtrip.WithCounter(ctx)
	ctx, end := e.span(ctx, op)
	return ctx, func(o outcome) {
		series.observe(o, time.Since(start), trips.Load())
		end(o)
	}
}

// Executor runs operations.
type Executor interface {
	// CreateOperationContext parses, validates and counts an operation.
	CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List)
	// DispatchOperation runs a query or a mutation.
	DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context)
	// DispatchError returns the response of an operation that failed.
	DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response
	// Subscribe authorises a subscription for the viewer of ctx and returns the source of
	// its events, or the errors that a client is shown.
	Subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, gqlerror.List)
	// Render executes a subscription for one event, as the viewer of ctx, and authorises
	// nobody. It returns nil when ctx is done.
	Render(ctx context.Context, op *graphql.OperationContext, event retwis.Event) *graphql.Response
	// RenderGroup returns a key that subscriptions share when they render each event to
	// the same bytes for the same viewer, and whether the viewer makes a difference. It is
	// empty for those that are not to be compared.
	RenderGroup(op *graphql.OperationContext) (key string, ofViewer bool)
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

// subscribe authorises a subscription for one subscriber and returns the source of its
// events, or the response that says why there is none.
func (e engine) subscribe(ctx context.Context, op *graphql.OperationContext) (source retwis.EventSource, failure *graphql.Response) {
	observed, end := e.observed(ctx, op)
	defer func() {
		if r := recover(); r != nil {
			source, failure = nil, e.panicked(ctx, "run a subscription", r)
		}
		if failure != nil {
			end(outcomeFor(ctx, failure))
		}
	}()
	from, errs := e.exec.Subscribe(observed, op)
	if len(errs) > 0 {
		return nil, &graphql.Response{Errors: errs}
	}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		err := from(ctx, after, sink)
		end(outcomeOfError(err))
		return err
	}, nil
}

// render executes a subscription for an event. The error says that there is no response.
func (e engine) render(ctx context.Context, op *graphql.OperationContext, event retwis.Event) (response *graphql.Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			response, err = e.panicked(ctx, "render an event", r), nil
		}
	}()
	if response = e.exec.Render(ctx, op, event); response == nil {
		return nil, cmp.Or(context.Cause(ctx), errNoResponse)
	}
	return response, nil
}

var errNoResponse = errors.New("the executor has no response to an event")

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
