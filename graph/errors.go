package graph

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Bounds of errors in a response. Errors of documents and variables quote them, and these may be as long as a request.
const (
	maxErrorBytes   = 3500 // of all errors of a refused document as JSON, about
	maxMessageBytes = 300
	maxPathBytes    = 100 // of one element
	errorOverhead   = 130 // of the JSON around message and path
)

// rowsPerError is what the presentation of an error, with its path, counts for.
const rowsPerError = 100

// errorPresenter returns the function that turns an error into what the client sees. A [retwis.Error] keeps its message
// and code. An error that unavailable recognises is logged, and the client is asked to retry. Any other error is logged
// in full under an id, and the client sees only that id.
func errorPresenter(log *slog.Logger, unavailable func(error) *retwis.Error) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		_ = cost.Walk(ctx, rowsPerError) // an operation that has to stop reports its errors, too
		if shown, ok := errors.AsType[*retwis.Error](err); ok {
			return present(ctx, shown.Message, extensions(shown))
		}
		located, ok := errors.AsType[*gqlerror.Error](err)
		if ok && located.Err == nil && located.Extensions["code"] != nil {
			return located // of the parser, the validator or a limit
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			// The client has disconnected, which makes its operation fail.
			return present(ctx, "the request was cancelled", internal(""))
		}
		if shown := unavailable(err); shown != nil {
			log.WarnContext(ctx, "graphql: operation failed, the client may retry", describe(ctx, err)...)
			return present(ctx, shown.Message, extensions(shown))
		}
		id := rand.Text()
		log.ErrorContext(ctx, "graphql: operation failed", append(describe(ctx, err), "id", id)...)
		return present(ctx, "internal error", internal(id))
	}
}

// present returns an error with the path of the field that failed and its location in the document.
func present(ctx context.Context, message string, extensions map[string]any) *gqlerror.Error {
	shown := &gqlerror.Error{Message: shorten(message, maxMessageBytes), Path: graphql.GetPath(ctx), Extensions: extensions}
	for at := graphql.GetFieldContext(ctx); at != nil; at = at.Parent { // elements of lists have contexts too
		if at.Field.Field != nil && at.Field.Position != nil {
			shown.Locations = []gqlerror.Location{location(ctx, at.Field.Position)}
			break
		}
	}
	return shown
}

// location returns a position as one in the document that the client sent.
func location(ctx context.Context, position *ast.Position) gqlerror.Location {
	at := gqlerror.Location{Line: position.Line, Column: position.Column}
	if document, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(documentKey).(*limits.Document); ok {
		at.Line, at.Column = document.Locate(at.Line, at.Column)
	}
	return at
}

func extensions(err *retwis.Error) map[string]any {
	e := map[string]any{"code": string(err.Code)}
	if err.RetryAfterSeconds > 0 {
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

// describe returns the log attributes of an error.
func describe(ctx context.Context, err error) []any {
	if located, ok := errors.AsType[*gqlerror.Error](err); ok && located.Err != nil {
		err = located.Err // the path has an attribute of its own
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

// panicError is a recovered panic.
type panicError struct {
	value any
	stack string
}

// Error implements error.
func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func recoverPanic(_ context.Context, value any) error {
	return &panicError{value: value, stack: string(debug.Stack())}
}

// userErrors splits the error of a mutation: errors that the user can correct go into the payload, any other one is the
// error of the field.
func userErrors(err error) (shown []*retwis.Error, other error) {
	if shown, ok := retwis.UserErrors(err); ok {
		return shown, nil
	}
	return nil, err
}

// shortenErrors returns the first errors of a refused operation, and shortens them.
func shortenErrors(errs gqlerror.List) gqlerror.List {
	total := 0
	for i, err := range errs {
		err.Message = shorten(err.Message, maxMessageBytes)
		total += errorOverhead + len(err.Message)
		for j, element := range err.Path {
			if name, ok := element.(ast.PathName); ok {
				err.Path[j] = ast.PathName(shorten(string(name), maxPathBytes))
				total += len(err.Path[j].(ast.PathName))
			}
		}
		if i > 0 && (i == limits.MaxErrors || total > maxErrorBytes) {
			return errs[:i]
		}
	}
	return errs
}

// shorten truncates a text to a number of bytes, and marks it as truncated.
func shorten(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	cut := maxBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
