package server

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// serveEvents answers a request with a stream of server-sent events, as the graphql-sse
// library defines them for distinct connections: one operation, whose responses are
// "next" events, and "complete" after the last. What is wrong with the operation is told
// in an event too; only what is no GraphQL request, or comes too often, gets another status.
//
// The id of an event is its cursor, so that a client that comes back with Last-Event-ID
// resumes there. A stream that ends without "complete" is one to come back to.
//
// Only subscriptions are streams where the client takes another media type just as well.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, media string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream := newEventStream(s, w, cancel)
	if !s.sockets.enter(stream) {
		s.reply(w, r, http.StatusServiceUnavailable, mediaJSON, &graphql.Response{Errors: gqlerror.List{
			errorOf(retwis.CodeInternal, "the server is stopping"),
		}}, &cookieJar{})
		return
	}
	defer s.sockets.remove(stream)

	var jar cookieJar
	op, failure, refused := s.prepareEvents(ctx, w, r, stream, &jar)
	if refused != nil {
		s.reply(w, r, refused.status, mediaJSON, &graphql.Response{Errors: gqlerror.List{refused.err}}, &jar)
		return
	}
	asViewer := func(ctx context.Context) context.Context {
		return jar.attach(auth.WithIdentity(ctx, stream.who))
	}
	response := failure
	if failure == nil && op.Operation.Operation != ast.Subscription {
		response = s.engine.single(asViewer(r.Context()), op)
	}
	if response != nil && media != "" {
		s.respond(w, r, media, response, &jar)
		return
	}
	ctx = asViewer(ctx)
	switch {
	case response != nil:
		stream.only(response)
	case !s.sockets.subscriptions.take(holderOf(ctx)):
		stream.only(tooManySubscriptions(stream.who.User))
	default:
		defer s.sockets.subscriptions.giveBack(holderOf(ctx))
		go stream.subscribe(ctx, op, retwis.Cursor(r.Header.Get("Last-Event-ID")))
		defer func() {
			cancel()
			<-stream.ended
		}()
	}
	jar.write(w.Header(), s.overTLS(r), s.opts.CookieMaxAge)
	stream.write(ctx)
}

// prepareEvents reads the request, finds out who asks, and parses the operation.
func (s *Server) prepareEvents(
	ctx context.Context, w http.ResponseWriter, r *http.Request, stream *eventStream, jar *cookieJar,
) (*graphql.OperationContext, *graphql.Response, *refusal) {
	params, refused := s.readParams(w, r)
	if refused != nil {
		return nil, nil, refused
	}
	params.Headers = r.Header
	stale, err := s.sockets.admit(ctx, stream, s.credentialsOf(r))
	if refused := s.refuseStranger(r, stale, err, jar); refused != nil {
		return nil, nil, refused
	}
	ctx = s.withAllowance(auth.WithIdentity(ctx, stream.who), w.Header())
	if r.Method == http.MethodGet {
		ctx = ratelimit.WithQueriesOnly(ctx)
	}
	op, failure := s.engine.prepare(ctx, params)
	if failure != nil && hasCode(failure.Errors, retwis.CodeRateLimited) {
		return nil, nil, &refusal{http.StatusTooManyRequests, failure.Errors[0]}
	}
	if failure == nil && op.Operation.Operation == ast.Mutation && r.Method == http.MethodGet {
		return nil, nil, refuseMethod(w)
	}
	return op, failure, nil
}
