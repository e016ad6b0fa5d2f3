package rdb

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// TraceOf returns the ids of the trace and the span of ctx as an outbox entry stores them, 49 bytes. It is empty
// if the trace is not sampled.
func TraceOf(ctx context.Context) string {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsSampled() {
		return ""
	}
	return of.TraceID().String() + "-" + of.SpanID().String()
}

// span starts a span for a round trip to Redis if the span of ctx is recorded. The returned function ends it.
// The span has no keys and arguments, because they contain posts and tokens.
func (h *hook) span(ctx context.Context, cmds ...redis.Cmder) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(error) {}
	}
	name, attributes := "pipeline", []attribute.KeyValue{attribute.String("db.system.name", "redis")}
	if len(cmds) == 1 {
		name = h.nameOf(cmds[0])
	} else {
		attributes = append(attributes, attribute.Int("db.operation.batch.size", len(cmds)), attribute.String("db.query.summary", h.summary(cmds)))
	}
	ctx, span := parent.TracerProvider().Tracer("retwis/store").Start(ctx, "redis "+name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if isOutage(err) {
			span.SetStatus(codes.Error, "Redis is unavailable")
		}
		span.End()
	}
}

func (h *hook) nameOf(cmd redis.Cmder) string {
	if s := h.scriptOf(cmd); s != nil {
		return s.name
	}
	return cmd.Name()
}

// maxNames is the maximum number of names in a summary.
const maxNames = 8

// summary returns the distinct commands of a pipeline.
func (h *hook) summary(cmds []redis.Cmder) string {
	var names []string
	seen := map[string]bool{}
	for _, cmd := range cmds {
		name := h.nameOf(cmd)
		if seen[name] {
			continue
		}
		seen[name] = true
		if len(names) == maxNames {
			names = append(names, "...")
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
