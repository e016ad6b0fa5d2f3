// Package httpapi answers GraphQL requests over HTTP with one response. The parts that
// streams and websockets need too are exported: parameters, credentials, origins, cookies
// and client addresses.
package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/buffer"
	"retwis/internal/server/clients"
	"retwis/internal/server/deflate"
	"retwis/internal/server/operation"
)

// Options of an [API]. The fields that are not lists are required.
type Options struct {
	Runner       *operation.Runner
	Accounts     Accounts
	Origins      *Origins
	Proxies      Proxies
	Shares       *cost.Shares
	CookieMaxAge time.Duration
	Policies     []ratelimit.Policy // announced in headers; the executor enforces them
}

// Accounts authenticate requests.
type Accounts interface {
	clients.Authenticator

	// Presume returns the identity that a token had when its session was read last, and a context in which to act on it. It
	// reports false for a token that it does not remember.
	Presume(ctx context.Context, token string) (context.Context, auth.Presumed, bool)
}

// API answers GraphQL requests.
type API struct {
	Options
	policies    []string // the header RateLimit-Policy
	bodies      buffer.Pool
	compressors deflate.Compressors
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

// answer reads the request, authenticates it, and executes it. It spares an exchange with the database, if possible: it
// executes the operation as the user whom the token belonged to when its session was read last, and the session is read
// along with the first read of the operation.
func (x *Exchange) answer() (*graphql.Response, *Refusal) {
	params, refusal := x.ReadParams()
	if refusal != nil {
		return nil, refusal
	}
	if ctx, presumed, ok := x.api.Accounts.Presume(x.R.Context(), x.Credentials.Token); ok {
		unchanged := *params
		if response, refusal, ok := x.execute(ctx, presumed, params); ok {
			return response, refusal
		}
		params = &unchanged
	}
	who, stale, err := clients.Authenticate(x.api.Shares.Paid(x.R.Context(), clients.ClientOf(x.R.Context())), x.api.Accounts, x.Credentials)
	if refusal := x.Admitted(stale, err); refusal != nil {
		return nil, refusal
	}
	response, refusal, _ := x.execute(x.R.Context(), auth.Presumed{Identity: who, Holds: certainly}, params)
	return response, refusal
}

func certainly(context.Context) bool { return true }

// execute executes the operation of the request as a user. It reports false if the presumed identity is wrong. Then the
// operation has changed nothing, and nobody may see the response.
func (x *Exchange) execute(ctx context.Context, as auth.Presumed, params *graphql.RawParams) (*graphql.Response, *Refusal, bool) {
	ctx = x.WithViewer(ctx, as.Identity)
	session := x.api.Shares.Paid(ctx, clients.ClientOf(ctx))
	op, failure := x.Prepare(ctx, params)
	if failure != nil {
		return failure, nil, as.Holds(session)
	}
	switch {
	case op.Operation.Operation == ast.Subscription:
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput,
			"subscriptions need a websocket with the subprotocol graphql-transport-ws, or Accept: %s", MediaEvents), as.Holds(session)
	case op.Operation.Operation == ast.Query:
		response := x.api.Runner.Run(ctx, op)
		return response, nil, as.Holds(session)
	case x.R.Method == http.MethodGet:
		return nil, x.RefuseMutation(), as.Holds(session)
	case !as.Holds(session):
		return nil, nil, false
	}
	return x.api.Runner.Run(ctx, op), nil, true
}

// Refusal is the reason why a request is not executed, as an HTTP status and an error.
type Refusal struct {
	Status int
	Err    *gqlerror.Error
}

func refuse(status int, code retwis.Code, format string, args ...any) *Refusal {
	return &Refusal{status, operation.Errorf(code, format, args...)}
}
