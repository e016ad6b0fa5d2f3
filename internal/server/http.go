package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

const allowedMethods = "GET, POST, OPTIONS"

// statusClientLeft is for metrics and traces, as nginx has it: the client is gone, and reads
// no status.
const statusClientLeft = 499

// refusal is why a request is not executed, as HTTP says it.
type refusal struct {
	status int
	err    *gqlerror.Error
}

func refuse(status int, code retwis.Code, format string, args ...any) *refusal {
	return &refusal{status, errorOf(code, format, args...)}
}

// serveGraphQL answers /graphql: one operation by GET or POST, or the upgrade to a
// websocket.
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.upgrade(w, r)
		return
	}
	if media, ok := prefersEvents(r.Header["Accept"]); ok {
		s.serveEvents(w, r, media)
		return
	}
	media, acceptable := negotiate(r.Header["Accept"])
	var jar cookieJar
	response, refused := func() (*graphql.Response, *refusal) {
		if !acceptable {
			return nil, refuse(http.StatusNotAcceptable, retwis.CodeBadUserInput,
				"answers are %s or %s", mediaGraphQL, mediaJSON)
		}
		return s.answer(w, r, &jar)
	}()

	if refused != nil {
		s.reply(w, r, refused.status, media, &graphql.Response{Errors: gqlerror.List{refused.err}}, &jar)
		return
	}
	s.respond(w, r, media, response, &jar)
}

// respond writes the response of an operation, with the status that belongs to it.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, media string, response *graphql.Response, jar *cookieJar) {
	status := http.StatusOK
	switch {
	case isExecuted(response):
	case r.Context().Err() != nil:
		status = statusClientLeft
	case hasCode(response.Errors, retwis.CodeInternal):
		status = http.StatusInternalServerError
	case hasCode(response.Errors, retwis.CodeRateLimited):
		status = http.StatusTooManyRequests
	case media == mediaGraphQL:
		status = http.StatusBadRequest
	}
	s.reply(w, r, status, media, response, jar)
}

// reply writes a response that is there as a whole.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, status int, media string, response *graphql.Response, jar *cookieJar) {
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusTooManyRequests:
		h.Set("Retry-After", retryAfter(response.Errors))
	}
	if media == "" {
		media = mediaJSON
	}

	buffer := s.bodies.get()
	defer s.bodies.put(buffer)
	body, err := appendResponse((*buffer)[:0], response)
	*buffer = body
	if err != nil {
		status = http.StatusInternalServerError
		body, _ = appendResponse(nil, &graphql.Response{Errors: gqlerror.List{
			s.engine.internal(r.Context(), "encode a response", err),
		}})
	}
	jar.write(h, s.overTLS(r), s.opts.CookieMaxAge)
	h.Set("Content-Type", media+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away is no failure of ours
}

// answer reads the request, finds out who asks, and executes it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, jar *cookieJar) (*graphql.Response, *refusal) {
	params, refused := s.readParams(w, r)
	if refused != nil {
		return nil, refused
	}
	params.Headers = r.Header

	who, stale, err := s.authenticate(r.Context(), s.credentialsOf(r))
	if refused := s.refuseStranger(r, stale, err, jar); refused != nil {
		return nil, refused
	}
	ctx := jar.attach(auth.WithIdentity(r.Context(), who))
	ctx = s.withAllowance(ctx, w.Header())
	if r.Method == http.MethodGet {
		ctx = ratelimit.WithQueriesOnly(ctx)
	}

	op, failure := s.engine.prepare(ctx, params)
	if failure != nil {
		return failure, nil
	}
	switch {
	case op.Operation.Operation == ast.Subscription:
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput,
			"subscriptions need a websocket, subprotocol %s, or Accept: %s", subprotocol, mediaEvents)
	case op.Operation.Operation != ast.Query && r.Method == http.MethodGet:
		return nil, refuseMethod(w)
	}
	return s.engine.single(ctx, op), nil
}

// refuseStranger returns why a request whose session was looked for is not executed, if
// it is not. A stale cookie is cleared.
func (s *Server) refuseStranger(r *http.Request, stale bool, err error, jar *cookieJar) *refusal {
	switch {
	case errors.Is(err, retwis.ErrUnauthenticated):
		return refuse(http.StatusUnauthorized, retwis.CodeUnauthenticated, "the session has ended: log in again")
	case err != nil && r.Context().Err() != nil:
		return refuse(statusClientLeft, retwis.CodeInternal, "cancelled")
	case err != nil:
		return &refusal{http.StatusServiceUnavailable, s.engine.internal(r.Context(), "authenticate a request", err)}
	case stale:
		jar.stale()
	}
	if shown := s.credentialsOf(r); shown.bearer {
		if cookie, err := r.Cookie(cookieName(s.overTLS(r))); err == nil {
			jar.keep(cookie.Value, shown.token)
		}
	}
	return nil
}

func refuseMethod(w http.ResponseWriter) *refusal {
	w.Header().Set("Allow", http.MethodPost)
	return refuse(http.StatusMethodNotAllowed, retwis.CodeBadUserInput, "GET is for queries only: use POST")
}

func (s *Server) readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	var params *graphql.RawParams
	var err error
	switch r.Method {
	case http.MethodGet:
		params, err = decodeQuery(r.URL.RawQuery)
	case http.MethodPost:
		// A body of this type cannot be sent across origins without a preflight; the check
		// of the origin is a second lock on the same door.
		if err := s.origins.csrf.Check(r); err != nil {
			return nil, refuse(http.StatusForbidden, retwis.CodeForbidden, "pages of this origin may not use the API")
		}
		body, refused := readBody(w, r)
		if refused != nil {
			return nil, refused
		}
		params, err = decodeParams(body)
	default:
		w.Header().Set("Allow", allowedMethods)
		return nil, refuse(http.StatusMethodNotAllowed, retwis.CodeBadUserInput, "use POST, or GET for queries")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput, "%s", err)
	}
	return params, nil
}

// readBody returns the JSON of a POST request, or why it will not be read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaJSON {
		return nil, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body has to be %s", mediaJSON)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body has to be UTF-8")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		w.Header().Set("Accept-Encoding", "identity")
		return nil, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body cannot be compressed")
	}
	tooLarge := func() *refusal {
		return refuse(http.StatusRequestEntityTooLarge, retwis.CodeBadUserInput,
			"the body may have %d bytes at most", maxBody)
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close") // what is on its way will not be read
		return nil, tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput, "%s", fmt.Errorf("the body ended early: %w", err))
	}
	return body, nil
}
