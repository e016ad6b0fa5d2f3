package fanout

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the span of an entry in the trace that created the entry, if it was traced.
func (r *runner) startSpan(ctx context.Context, w *workItem) {
	if r.options.Tracer == nil || w.Trace == "" || w.span != nil {
		return
	}
	creator, ok := parseSpanContext(w.Trace)
	if !ok {
		return
	}
	_, w.span = r.options.Tracer.Start(trace.ContextWithRemoteSpanContext(ctx, creator), "fan-out of a "+string(w.Kind),
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.Int("retwis.outbox", w.Outbox), attribute.String("retwis.entry", w.ID)))
}

// parseSpanContext parses the trace field of an entry: a trace id, a hyphen and a span id.
func parseSpanContext(text string) (trace.SpanContext, bool) {
	const traceDigits, spanDigits = 32, 16
	if len(text) != traceDigits+1+spanDigits || text[traceDigits] != '-' {
		return trace.SpanContext{}, false
	}
	of, err := trace.TraceIDFromHex(text[:traceDigits])
	if err != nil {
		return trace.SpanContext{}, false
	}
	by, err := trace.SpanIDFromHex(text[traceDigits+1:])
	if err != nil {
		return trace.SpanContext{}, false
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: of, SpanID: by, TraceFlags: trace.FlagsSampled, Remote: true}), true
}

// endSpan ends the span of the entry, if it has one.
func (w *workItem) endSpan() {
	if w.span != nil {
		w.span.End()
		w.span = nil
	}
}

// roundShare counts the calls and pushes of an entry in one round.
type roundShare struct{ calls, pushed int }

// roundContext returns the context for the calls of a round. It carries the span of the first
// traced entry, so that the span contains the exchanges of the round with the database.
func roundContext(ctx context.Context, ready []*workItem) context.Context {
	for _, w := range ready {
		if w.span != nil {
			return trace.ContextWithSpan(ctx, w.span)
		}
	}
	return ctx
}

// recordDeliverySpans records a child span for the share of each traced entry in a round.
func recordDeliverySpans(ctx context.Context, since time.Time, shares map[*workItem]roundShare) {
	for w, s := range shares {
		if w.span == nil {
			continue
		}
		_, span := w.span.TracerProvider().Tracer("retwis/fanout").Start(trace.ContextWithSpan(ctx, w.span), "deliver",
			trace.WithTimestamp(since),
			trace.WithAttributes(attribute.Int("retwis.calls", s.calls), attribute.Int("retwis.timelines", s.pushed)))
		span.End()
	}
}
