package fanout

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// begin begins the span of an entry whose maker was recorded, in the trace of its maker.
func (r *runner) begin(ctx context.Context, w *work) {
	if r.options.Tracer == nil || w.Trace == "" || w.span != nil {
		return
	}
	maker, ok := spanContextOf(w.Trace)
	if !ok {
		return
	}
	_, w.span = r.options.Tracer.Start(trace.ContextWithRemoteSpanContext(ctx, maker), "fan-out of a "+string(w.Kind),
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.Int("retwis.outbox", w.Outbox), attribute.String("retwis.entry", w.ID)))
}

// spanContextOf reads what an entry says of its maker.
func spanContextOf(text string) (trace.SpanContext, bool) {
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

// end ends the span of an entry, if it has one.
func (w *work) end() {
	if w.span != nil {
		w.span.End()
		w.span = nil
	}
}

// share is what an entry had of a round of calls.
type share struct{ calls, pushed int }

// inRound returns a context for the calls of a round: in the span of the first entry that
// has one, so that it shows what the round exchanged with the database.
func inRound(ctx context.Context, ready []*work) context.Context {
	for _, w := range ready {
		if w.span != nil {
			return trace.ContextWithSpan(ctx, w.span)
		}
	}
	return ctx
}

// delivered gives each entry that has a span one for its share of a round.
func delivered(ctx context.Context, since time.Time, shares map[*work]share) {
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
