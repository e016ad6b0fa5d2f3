package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"go.opentelemetry.io/otel/trace"
)

// rootSpans is a gqlgen extension that gives every root field a span, if the span of the operation is recorded. Fields below
// have none: loaders read their values in batches, which show as commands of the database.
type rootSpans struct{}

// ExtensionName implements [graphql.HandlerExtension].
func (rootSpans) ExtensionName() string { return "RootSpans" }

// Validate implements [graphql.HandlerExtension].
func (rootSpans) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptRootField implements [graphql.RootFieldInterceptor].
func (rootSpans) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return next(ctx)
	}
	field := graphql.GetRootFieldContext(ctx).Field
	ctx, span := parent.TracerProvider().Tracer("retwis/graph").Start(ctx, field.ObjectDefinition.Name+"."+field.Name)
	defer span.End()
	return next(ctx)
}
