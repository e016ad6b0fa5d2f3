package rdb

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// TraceOf is what an outbox entry says of the trace that made it: the ids of the trace and
// the span, 49 bytes; empty where it is not recorded.
func TraceOf(ctx context.Context) string {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsSampled() {
		return ""
	}
	return of.TraceID().String() + "-" + of.SpanID().String()
}

// span begins a span for an exchange with Redis, where ctx is in one that is recorded. The
// function it returns ends it. Keys and arguments are not recorded: they hold what people
// write, and tokens.
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
			span.SetStatus(codes.Error, "Redis did not answer, or is not well")
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

// maxNames is how many names a summary has.
const maxNames = 8

// summary is which commands a pipeline has, each once.
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
