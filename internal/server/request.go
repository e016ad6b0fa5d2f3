package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"retwis/internal/auth"
)

type requestIDKey struct{}

// RequestID returns the id of the HTTP request that ctx belongs to, or of the one that
// opened its websocket; empty outside of both.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// LogHandler returns a handler that adds the request's id to each line that is logged
// with the context of a request, and the id of the trace where it is recorded.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("request", id))
	}
	if of := trace.SpanContextFromContext(ctx); of.IsSampled() {
		record.AddAttrs(slog.String("trace", of.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}

// newID returns a random name for a request or a log line.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// saneID reports whether an id that a client or a proxy chose may be logged and echoed.
func saneID(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// observe is the outermost handler: it names the request, logs it, and turns a panic
// into a response. The log has the path, never the query string or a header: those hold
// queries and tokens.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !saneID(id) {
			id = newID()
		}
		client := s.proxies.clientOf(r)
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		ctx = auth.WithRequest(ctx, auth.Request{Address: client, UserAgent: r.UserAgent()})
		w.Header().Set("X-Request-Id", id)
		s.secure(w.Header(), s.overTLS(r))
		rec := &recorder{ResponseWriter: w}
		ctx, end := s.traced(ctx, r)
		start := time.Now()
		defer func() {
			if value := recover(); value != nil {
				if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(value)
				}
				s.opts.Log.ErrorContext(ctx, "panic in a handler", "panic", value, "path", r.URL.Path, "stack", string(debug.Stack()))
				if rec.status == 0 {
					http.Error(rec, "internal server error", http.StatusInternalServerError)
				}
			}
			end(rec.status)
			s.metrics.requests.observe(r.URL.Path, rec.status, rec.isStream(), time.Since(start))
			s.opts.Log.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "status", rec.status,
				"bytes", rec.bytes, "took", time.Since(start), "client", client)
		}()
		next.ServeHTTP(rec, r.WithContext(ctx))
	})
}

// recorder remembers what became of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += n
	return n, err
}

// isStream reports whether the response lasts as long as its reader likes.
func (r *recorder) isStream() bool {
	return r.status == http.StatusSwitchingProtocols || strings.HasPrefix(r.Header().Get("Content-Type"), mediaEvents)
}

// Unwrap lets http.ResponseController find what the recorder does not do.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Hijack is for the upgrade to a websocket.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.status = http.StatusSwitchingProtocols
	}
	return conn, buf, err
}
