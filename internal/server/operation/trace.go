package operation

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/server/requestid"
)

// span starts the span of an operation. The returned function ends it.
func (r *Runner) span(ctx context.Context, op *graphql.OperationContext) (context.Context, func(outcome)) {
	if r.Tracer == nil {
		return ctx, func(outcome) {}
	}
	kind, name := string(op.Operation.Operation), op.Operation.Name
	attributes := []attribute.KeyValue{attribute.String("graphql.operation.type", kind)}
	if name != "" && len(name) <= maxNameLength {
		attributes = append(attributes, attribute.String("graphql.operation.name", name))
		kind += " " + name
	}
	if id := requestid.Of(ctx); id != "" {
		attributes = append(attributes, attribute.String("retwis.request", id))
	}
	ctx, span := r.Tracer.Start(ctx, kind, trace.WithAttributes(attributes...))
	return ctx, func(o outcome) {
		if span.IsRecording() {
			span.SetAttributes(attribute.String("graphql.outcome", o.String()))
			if o == internalError {
				span.SetStatus(codes.Error, "internal error")
			}
		}
		span.End()
	}
}
