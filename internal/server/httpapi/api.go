// Package httpapi answers GraphQL requests over HTTP with one response. The parts that
// streams and websockets need too are exported: parameters, credentials, origins, cookies
// and client addresses.
package httpapi

import (
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/buffer"
	"retwis/internal/server/clients"
	"retwis/internal/server/operation"
)

// Options of an [API]. The fields that are not lists are required.
type Options struct {
	Runner       *operation.Runner
	Accounts     clients.Authenticator
	Origins      *Origins
	Proxies      Proxies
	Shares       *cost.Shares
	CookieMaxAge time.Duration
	Policies     []ratelimit.Policy // announced in headers; the executor enforces them
}

// API answers GraphQL requests.
type API struct {
	Options
	policies []string // the header RateLimit-Policy
	bodies   buffer.Pool
	gzip     gzipWriters
}

// New returns an API.
func New(opts Options) *API { return &API{Options: opts, policies: policyHeader(opts.Policies)} }

// ServeHTTP executes a query or a mutation by GET or POST.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := a.Begin(w, r)
	media, acceptable := negotiate(r.Header["Accept"])
	if !acceptable {
		x.Refuse(refuse(http.StatusNotAcceptable, retwis.CodeBadUserInput, "responses are %s or %s", mediaGraphQL, mediaJSON), media)
		return
	}
	response, refusal := x.answer()
	if refusal != nil {
		x.Refuse(refusal, media)
		return
	}
	x.Respond(response, media)
}

// answer reads the request, authenticates it, and executes it.
func (x *Exchange) answer() (*graphql.Response, *Refusal) {
	params, refusal := x.ReadParams()
	if refusal != nil {
		return nil, refusal
	}
	who, stale, err := clients.Authenticate(x.R.Context(), x.api.Accounts, x.Credentials)
	if refusal := x.Admitted(stale, err); refusal != nil {
		return nil, refusal
	}
	ctx := x.WithViewer(x.R.Context(), who)
	op, failure := x.Prepare(ctx, params)
	if failure != nil {
		return failure, nil
	}
	switch {
	case op.Operation.Operation == ast.Subscription:
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput,
			"subscriptions need a websocket with the subprotocol graphql-transport-ws, or Accept: %s", MediaEvents)
	case op.Operation.Operation != ast.Query && x.R.Method == http.MethodGet:
		return nil, x.RefuseMutation()
	}
	return x.api.Runner.Run(ctx, op), nil
}

// Refusal is the reason why a request is not executed, as an HTTP status and an error.
type Refusal struct {
	Status int
	Err    *gqlerror.Error
}

func refuse(status int, code retwis.Code, format string, args ...any) *Refusal {
	return &Refusal{status, operation.Errorf(code, format, args...)}
}
