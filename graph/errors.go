package graph

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// ErrorPresenter returns what turns an error into what the client sees of it. Failures
// that may be shown keep their message and carry their code; every other one is logged
// in full, and the client gets only the id it is logged under.
func ErrorPresenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		if shown, ok := errors.AsType[*retwis.Error](err); ok {
			return present(ctx, shown.Message, extensions(shown))
		}
		located, ok := errors.AsType[*gqlerror.Error](err)
		if ok && located.Err == nil && located.Extensions["code"] != nil {
			return located // from the parser, the validator or one of our limits
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			// The client went away, which breaks whatever was being done for it.
			return present(ctx, "the request was cancelled", internal(""))
		}
		id := rand.Text()
		log.ErrorContext(ctx, "an operation failed", append(describe(ctx, err), "id", id)...)
		return present(ctx, "internal error", internal(id))
	}
}

// present says where an error happened, as the path and the place in the document of
// the field that failed.
func present(ctx context.Context, message string, extensions map[string]any) *gqlerror.Error {
	shown := &gqlerror.Error{Message: shorten(message, maxMessageBytes), Path: graphql.GetPath(ctx), Extensions: extensions}
	for at := graphql.GetFieldContext(ctx); at != nil; at = at.Parent { // elements of lists are contexts, too
		if at.Field.Field != nil && at.Field.Position != nil {
			position := at.Field.Position
			shown.Locations = []gqlerror.Location{{Line: position.Line, Column: position.Column}}
			break
		}
	}
	return shown
}

func extensions(err *retwis.Error) map[string]any {
	e := map[string]any{"code": string(err.Code)}
	if err.Code == retwis.CodeRateLimited {
		e["retryAfter"] = err.RetryAfterSeconds
	}
	return e
}

func internal(id string) map[string]any {
	e := map[string]any{"code": string(retwis.CodeInternal)}
	if id != "" {
		e["id"] = id
	}
	return e
}

// describe says what the log is to hold about an error.
func describe(ctx context.Context, err error) []any {
	if located, ok := errors.AsType[*gqlerror.Error](err); ok && located.Err != nil {
		err = located.Err // its place is logged by itself
	}
	attributes := []any{"err", err, "path", graphql.GetPath(ctx).String()}
	if graphql.HasOperationContext(ctx) {
		if op := graphql.GetOperationContext(ctx).Operation; op != nil {
			attributes = append(attributes, "operation", op.Name)
		}
	}
	if crash, ok := errors.AsType[*panicError](err); ok {
		attributes = append(attributes, "stack", crash.stack)
	}
	if crash, ok := errors.AsType[*loaders.PanicError](err); ok {
		attributes = append(attributes, "stack", crash.Stack)
	}
	return attributes
}

// panicError is a panic on its way to the error presenter.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func recoverPanic(_ context.Context, value any) error {
	return &panicError{value: value, stack: string(debug.Stack())}
}

// userErrors splits the failure of a mutation: what a person can mend goes into the
// payload, anything else is the error of the field.
func userErrors(err error) ([]*retwis.Error, error) {
	if mendable, ok := retwis.UserErrors(err); ok {
		return mendable, nil
	}
	return nil, err
}
