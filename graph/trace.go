package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"go.opentelemetry.io/otel/trace"
)

// rootSpans gives every field of the root a span, where the operation has one that is
// recorded. What the fields below read is read for many of them at once, and shows as
// exchanges with the database.
type rootSpans struct{}

func (rootSpans) ExtensionName() string                   { return "RootSpans" }
func (rootSpans) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptRootField implements [graphql.RootFieldInterceptor].
func (rootSpans) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	of := trace.SpanFromContext(ctx)
	if !of.IsRecording() {
		return next(ctx)
	}
	field := graphql.GetRootFieldContext(ctx).Field
	ctx, span := of.TracerProvider().Tracer("retwis/graph").Start(ctx, field.ObjectDefinition.Name+"."+field.Name)
	defer span.End()
	return next(ctx)
}
