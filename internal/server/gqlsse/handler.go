// Package gqlsse serves GraphQL operations as streams of server-sent events, as the
// graphql-sse library defines them for distinct connections: each request is one operation,
// each response is a "next" event, and "complete" follows the last one.
package gqlsse

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/buffer"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// Options of a [Handler]. All fields are required.
type Options struct {
	Runner        *operation.Runner
	Groups        *broadcast.Groups
	Registry      *clients.Registry
	Subscriptions *clients.Quota
	Shares        *cost.Shares
	SlowConsumers *atomic.Int64 // counts readers that were disconnected because their queue was full

	QueueBytes int           // that may wait for one reader
	PingEvery  time.Duration // between comments that keep a stream open
	WriteWait  time.Duration // for one write
}

// Handler serves event streams.
type Handler struct {
	Options
	buffers buffer.Pool
}

// New returns a handler.
func New(opts Options) *Handler { return &Handler{Options: opts} }

// Serve answers a request with an event stream. An operation that fails is reported in an
// event. Only a request that is not valid GraphQL over HTTP, and one that exceeds a rate
// limit, get another status than 200.
//
// The id of an event is its cursor, so that a client that reconnects with Last-Event-ID
// resumes after it. A client should reconnect after a stream that ends without "complete".
//
// If the client accepts another media type with equal preference, only subscriptions are streams.
func (h *Handler) Serve(x *httpapi.Exchange, media string) {
	ctx, cancel := context.WithCancel(x.R.Context())
	defer cancel()
	s := newStream(ctx, h, x.W, cancel)
	if !h.Registry.Enter(s) {
		x.Refuse(&httpapi.Refusal{
			Status: http.StatusServiceUnavailable, Err: operation.Errorf(retwis.CodeInternal, "the server is stopping"),
		}, "")
		return
	}
	defer h.Registry.Remove(s)

	op, failure, refusal := h.prepare(ctx, x, s)
	if refusal != nil {
		x.Refuse(refusal, "")
		return
	}
	response := failure
	if failure == nil && op.Operation.Operation != ast.Subscription {
		response = h.Runner.Run(x.WithViewer(x.R.Context(), s.Identity), op)
	}
	if response != nil && media != "" {
		x.Respond(response, media)
		return
	}
	ctx = x.WithViewer(ctx, s.Identity)
	client := clients.ClientOf(ctx)
	s.setAccount(h.Shares.Account(client))
	defer s.drop()
	if response == nil {
		response = h.Subscriptions.Acquire(client)
	}
	if response != nil {
		s.replaceAll(response)
	} else {
		defer h.Subscriptions.Release(client)
		go s.subscribe(ctx, op, retwis.Cursor(x.R.Header.Get("Last-Event-ID")))
		defer func() {
			cancel()
			<-s.ended
		}()
	}
	x.WriteCookie()
	s.write(ctx)
}

// prepare reads the request, authenticates it, and parses the operation.
func (h *Handler) prepare(
	ctx context.Context, x *httpapi.Exchange, s *stream,
) (*graphql.OperationContext, *graphql.Response, *httpapi.Refusal) {
	params, refusal := x.ReadParams()
	if refusal != nil {
		return nil, nil, refusal
	}
	stale, err := h.Registry.Admit(ctx, s, x.Credentials)
	if refusal := x.Admitted(stale, err); refusal != nil {
		return nil, nil, refusal
	}
	op, failure := x.Prepare(x.WithViewer(ctx, s.Identity), params)
	if failure != nil && operation.HasCode(failure.Errors, retwis.CodeRateLimited) {
		return nil, nil, &httpapi.Refusal{Status: http.StatusTooManyRequests, Err: failure.Errors[0]}
	}
	if failure == nil && op.Operation.Operation == ast.Mutation && x.R.Method == http.MethodGet {
		return nil, nil, x.RefuseMutation()
	}
	return op, failure, nil
}
