package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// engine runs operations on the executor, and turns its panics into errors: the parser
// and the coercion of variables run outside the recovery that generated code has.
type engine struct {
	exec graphql.GraphExecutor
	log  *slog.Logger
}

// prepare parses and validates a request. Where that fails it returns the response
// that says so.
func (e engine) prepare(ctx context.Context, params *graphql.RawParams) (op *graphql.OperationContext, failure *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			op, failure = nil, e.panicked(ctx, "prepare an operation", r)
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

// stream runs a subscription and hands on each response, until the source ends or ctx
// does. The data of a response is only good until the next one.
func (e engine) stream(ctx context.Context, op *graphql.OperationContext, each func(*graphql.Response)) (failure *graphql.Response) {
	defer func() {
		if r := recover(); r != nil {
			failure = e.panicked(ctx, "run a subscription", r)
		}
	}()
	responses, ctx := e.exec.DispatchOperation(ctx, op)
	for {
		response := responses(ctx)
		if response == nil {
			return nil
		}
		if !isExecuted(response) {
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
