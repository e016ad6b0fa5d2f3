package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/clients"
)

// statusClientLeft is for metrics and traces, like that of nginx: the client is gone and
// reads no status.
const statusClientLeft = 499

// Exchange is one HTTP request with a GraphQL operation, and its response.
type Exchange struct {
	W           http.ResponseWriter
	R           *http.Request
	TLS         bool // the client's own connection is encrypted
	Credentials clients.Credentials

	api    *API
	read   int // bytes of the parameters
	viewer auth.Identity
	cookie string // the value of the session cookie; empty without one
	jar    cookieJar
}

// Begin returns the exchange of a request, with the credentials of the client.
func (a *API) Begin(w http.ResponseWriter, r *http.Request) *Exchange {
	x := &Exchange{W: w, R: r, TLS: a.Proxies.OverTLS(r), api: a}
	if cookie, err := r.Cookie(cookieName(x.TLS)); err == nil {
		x.cookie = cookie.Value
	}
	if token, ok := BearerToken(r.Header.Get("Authorization")); ok {
		x.Credentials = clients.Credentials{Token: token, Bearer: true}
	} else {
		x.Credentials = clients.Credentials{Token: x.cookie}
	}
	return x
}

// BearerToken returns the token of an Authorization value. It reports false for other
// schemes: those are between the client and a proxy in front of the service.
func BearerToken(value string) (string, bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// Admitted handles the result of the authentication: it returns a refusal or nil, and clears a stale cookie.
func (x *Exchange) Admitted(stale bool, err error) *Refusal {
	switch {
	case errors.Is(err, retwis.ErrUnauthenticated):
		return refuse(http.StatusUnauthorized, retwis.CodeUnauthenticated, "the session has ended: log in again")
	case err != nil && x.R.Context().Err() != nil:
		return refuse(statusClientLeft, retwis.CodeInternal, "cancelled")
	case err != nil:
		return &Refusal{http.StatusServiceUnavailable, x.api.Runner.Failure(x.R.Context(), "authenticate a request", err)}
	case stale:
		x.jar.clearStale()
	}
	return nil
}

// WithViewer returns a context in which the operation of the request runs.
func (x *Exchange) WithViewer(ctx context.Context, who auth.Identity) context.Context {
	x.viewer = who
	auth.RequestOf(ctx).Identify(who.User)
	if x.Credentials.Bearer && x.cookie != "" {
		x.jar.keepForeign(x.cookie, x.Credentials.Token)
	}
	return x.jar.attach(auth.WithIdentity(ctx, who))
}

// Prepare parses, validates and counts the operation of the request, and sets the rate
// limit headers. If it refuses the operation, it returns the response; otherwise it charges for the
// request and for the read of its session, whether it exists or not.
func (x *Exchange) Prepare(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, *graphql.Response) {
	preparing, client := ctx, clients.ClientOf(ctx)
	refused := x.api.Runner.Executor.Check(client) != nil // that waits, and needs no turn
	if !refused && (x.read > cost.FreeBytes || !x.api.Runner.Executor.Knows(params)) {
		turn := x.api.Shares.Decode(ctx, client) // others are prepared as fast as their header, which had a turn
		defer turn.End()
		preparing = cost.WithTurn(ctx, turn)
	}
	op, budget, failure := x.api.Runner.Prepare(preparing, params, x.R.Method == http.MethodGet)
	x.api.setRateLimits(x.W.Header(), budget)
	if failure != nil {
		return nil, failure
	}
	price := cost.PerRequest
	if x.Credentials.Token != "" {
		price += cost.PerSession
	}
	x.api.Runner.Executor.Spend(ctx, price)
	return op, nil
}

// takeTurn waits until the server may decode some bytes of the request, beside those of its network: see [cost.Shares.DecodeLong].
func (x *Exchange) takeTurn(bytes int) *cost.Turn {
	return x.api.Shares.DecodeLong(x.R.Context(), clients.ClientOf(x.R.Context()), bytes)
}
