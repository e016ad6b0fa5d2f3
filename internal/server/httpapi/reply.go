package httpapi

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/server/clients"
	"retwis/internal/server/operation"
)

// Respond writes the response of an operation as a media type, with its status.
func (x *Exchange) Respond(response *graphql.Response, media string) {
	status := http.StatusOK
	switch {
	case operation.Executed(response):
	case x.R.Context().Err() != nil:
		status = statusClientLeft
	case operation.HasCode(response.Errors, retwis.CodeInternal):
		status = http.StatusInternalServerError
	case operation.HasCode(response.Errors, retwis.CodeUnavailable):
		status = http.StatusServiceUnavailable
	case operation.HasCode(response.Errors, retwis.CodeRateLimited):
		status = http.StatusTooManyRequests
	case media == mediaGraphQL:
		status = http.StatusBadRequest
	}
	x.reply(status, media, response)
}

// Refuse writes the refusal of a request as a media type; the empty one is JSON. It charges the network of the client if the
// request is at fault.
func (x *Exchange) Refuse(refusal *Refusal, media string) {
	if fault := refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests; fault {
		x.api.Runner.Refused(x.R.Context(), x.received())
	}
	x.reply(refusal.Status, cmp.Or(media, mediaJSON), &graphql.Response{Errors: gqlerror.List{refusal.Err}})
}

// received returns how many bytes of a refused request the server reads at most.
func (x *Exchange) received() int {
	if x.read > 0 {
		return x.read
	}
	return UnreadBody(x.R)
}

// UnreadBody returns how many bytes of a body that no handler has read the server reads at most.
func UnreadBody(r *http.Request) int {
	if r.ContentLength < 0 {
		return MaxBody
	}
	return int(min(r.ContentLength, MaxBody))
}

func (x *Exchange) reply(status int, media string, response *graphql.Response) {
	h := x.W.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter(response.Errors))
	}

	buffer := x.api.bodies.Get()
	defer x.api.bodies.Put(buffer)
	body, err := operation.AppendResponse((*buffer)[:0], response)
	*buffer = body
	if err != nil {
		status = http.StatusInternalServerError
		body, _ = operation.AppendResponse(nil, &graphql.Response{Errors: gqlerror.List{
			x.api.Runner.Failure(x.R.Context(), "encode a response", err),
		}})
	}
	release, ok := x.api.Shares.Hold(clients.ClientOf(auth.WithIdentity(x.R.Context(), x.viewer)), len(body))
	defer release()
	if !ok {
		status = http.StatusTooManyRequests
		h.Set("Retry-After", "1")
		body, _ = operation.AppendResponse(nil, operation.RateLimited(1, "too many responses wait to be read: read them first"))
	}
	x.WriteCookie()
	h.Set("Content-Type", media+"; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	if x.compresses(body) {
		spare := x.api.bodies.Get()
		defer x.api.bodies.Put(spare)
		if compressed, err := x.compress((*spare)[:0], body); err == nil {
			*spare, body = compressed, compressed
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.W.WriteHeader(status)
	_, _ = x.W.Write(body) // an error means that the client is gone
}

// WriteCookie adds the change of the session cookie to the header of the response.
func (x *Exchange) WriteCookie() { x.jar.write(x.W.Header(), x.TLS, x.api.CookieMaxAge) }
