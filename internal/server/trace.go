package server

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced begins the span of a request, where anything is traced: not of those that last as
// long as their reader likes, whose operations have traces of their own. The function it
// returns ends it.
//
// Only a trusted proxy may say which trace the request belongs to, and that it is recorded:
// anybody else could have everything recorded.
func (s *Server) traced(ctx context.Context, r *http.Request) (context.Context, func(status int)) {
	if s.opts.Tracer == nil || r.URL.Path != "/graphql" || websocket.IsWebSocketUpgrade(r) {
		return ctx, func(int) {}
	}
	if _, stream := prefersEvents(r.Header["Accept"]); stream {
		return ctx, func(int) {}
	}
	if peer := peerOf(r); peer != (netip.Addr{}) && s.proxies.trust(peer) {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := s.opts.Tracer.Start(ctx, r.Method+" /graphql", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method),
		attribute.String("http.route", "/graphql"),
		attribute.String("retwis.request", RequestID(ctx)),
	))
	return ctx, func(status int) {
		if span.IsRecording() {
			span.SetAttributes(attribute.Int("http.response.status_code", cmp.Or(status, http.StatusOK)))
			if status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, "")
			}
		}
		span.End()
	}
}

// span begins the span of an operation, where anything is traced. The function it returns
// ends it.
func (e engine) span(ctx context.Context, op *graphql.OperationContext) (context.Context, func(outcome)) {
	if e.tracer == nil {
		return ctx, func(outcome) {}
	}
	kind, name := string(op.Operation.Operation), op.Operation.Name
	attributes := []attribute.KeyValue{attribute.String("graphql.operation.type", kind)}
	if name != "" && len(name) <= maxOperationName {
		attributes = append(attributes, attribute.String("graphql.operation.name", name))
		kind += " " + name
	}
	if id := RequestID(ctx); id != "" {
		attributes = append(attributes, attribute.String("retwis.request", id))
	}
	ctx, span := e.tracer.Start(ctx, kind, trace.WithAttributes(attributes...))
	return ctx, func(o outcome) {
		if span.IsRecording() {
			span.SetAttributes(attribute.String("graphql.outcome", o.String()))
			if o == broken {
				span.SetStatus(codes.Error, "internal error")
			}
		}
		span.End()
	}
}
