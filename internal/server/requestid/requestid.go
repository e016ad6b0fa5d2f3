// Package requestid identifies HTTP requests in logs and traces.
package requestid

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Header is the HTTP header of the id, in requests and responses.
const Header = "X-Request-Id"

const maxLength = 64 // bytes of an id that a client or a proxy chose

type contextKey struct{}

// With returns a context of the request with an id.
func With(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// Of returns the id of the HTTP request that ctx belongs to, or of the request that opened
// its websocket. It is empty outside of both.
func Of(ctx context.Context) string {
	id, _ := ctx.Value(contextKey{}).(string)
	return id
}

// New returns a random id.
func New() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Valid reports whether an id that a client or a proxy chose may be logged and echoed.
func Valid(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return id != "" && len(id) <= maxLength
}

// LogHandler returns a handler that adds the id of the request to log records, and the id of the trace if
// it is recorded.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := Of(ctx); id != "" {
		record.AddAttrs(slog.String("request", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		record.AddAttrs(slog.String("trace", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}
