package server

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/auth"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/requestid"
)

// observe returns the outermost handler: it identifies the request, logs it, and turns a
// panic into a response. The log contains the path, but neither the query string nor a
// header: those contain queries and tokens.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestid.Header)
		if !requestid.Valid(id) {
			id = requestid.New()
		}
		proxies := httpapi.Proxies(s.opts.TrustedProxies)
		client := proxies.Client(r)
		ctx := auth.WithRequest(requestid.With(r.Context(), id), auth.Request{
			Address: client, UserAgent: r.UserAgent(), Identified: identifies(r),
		})
		w.Header().Set(requestid.Header, id)
		s.security.Set(w.Header(), proxies.OverTLS(r))
		rec := &recorder{ResponseWriter: w}
		ctx, end := s.trace(ctx, r)
		start := time.Now()
		defer func() {
			if value := recover(); value != nil {
				if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(value)
				}
				s.opts.Log.ErrorContext(ctx, "server: panic in a handler", "panic", value, "path", r.URL.Path, "stack", string(debug.Stack()))
				if rec.status == 0 {
					http.Error(rec, "internal server error", http.StatusInternalServerError)
				}
			}
			end(rec.status)
			s.requests.observe(r.URL.Path, rec.status, rec.isStream(), time.Since(start))
			s.opts.Log.DebugContext(ctx, "server: request", "method", r.Method, "path", r.URL.Path, "status", rec.status,
				"bytes", rec.bytes, "took", time.Since(start), "client", client)
		}()
		if r.ContentLength < 0 && r.Trailer == nil {
			r.Trailer = http.Header{} // net/http adds the fields after the body; all copies of the request share them
		}
		next.ServeHTTP(rec, r.WithContext(ctx))
	})
}

// trace starts the span of a request. Websockets and event streams, which last as long as
// their reader wants, have none; their operations have traces of their own. The returned
// function ends the span.
//
// Only a trusted proxy may say which trace the request belongs to, and that it is recorded:
// otherwise any client could have its requests recorded.
func (s *Server) trace(ctx context.Context, r *http.Request) (context.Context, func(status int)) {
	if s.opts.Tracer == nil || r.URL.Path != "/graphql" || websocket.IsWebSocketUpgrade(r) {
		return ctx, func(int) {}
	}
	if _, stream := httpapi.PrefersEvents(r.Header["Accept"]); stream {
		return ctx, func(int) {}
	}
	if peer := httpapi.PeerOf(r); peer != (netip.Addr{}) && httpapi.Proxies(s.opts.TrustedProxies).Trust(peer) {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := s.opts.Tracer.Start(ctx, r.Method+" /graphql", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method),
		attribute.String("http.route", "/graphql"),
		attribute.String("retwis.request", requestid.Of(ctx)),
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

// recorder records the status and the length of a response.
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

// isStream reports whether the response lasts as long as its reader wants.
func (r *recorder) isStream() bool {
	return r.status == http.StatusSwitchingProtocols || strings.HasPrefix(r.Header().Get("Content-Type"), httpapi.MediaEvents)
}

// Unwrap gives http.ResponseController access to the methods that the recorder lacks.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Hijack is for the upgrade to a websocket.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.status = http.StatusSwitchingProtocols
	}
	return conn, buf, err
}
