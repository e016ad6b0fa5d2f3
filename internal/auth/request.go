package auth

import (
	"context"
	"net/netip"

	"retwis/internal/retwis"
)

// Request is what a resolver needs to know of the request that carries its operation,
// besides the [Identity] of the caller. It travels in the context, as gqlgen passes
// resolvers nothing else of a request; all other code takes its fields as arguments.
type Request struct {
	Address   netip.Addr         // of the client; invalid if unknown, as on a Unix socket
	UserAgent string             // as the client names itself
	SetCookie func(token string) // sets the session cookie; the empty token clears it; nil without cookies

	// Identified notes who sends on the connection of the request; nil if nobody has to know.
	Identified func(retwis.UserID)
}

type requestKey struct{}

// WithRequest returns a context of the operations of a request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request that an operation belongs to; the zero value if unknown.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

// Identify notes that the request is one of a user, or of an anonymous client if that is 0.
func (r Request) Identify(user retwis.UserID) {
	if r.Identified != nil {
		r.Identified(user)
	}
}

// SetSessionCookie makes the client's session cookie hold the token; the empty token clears
// the cookie. It does nothing if the transport has no cookies.
func (r Request) SetSessionCookie(token string) {
	if r.SetCookie != nil {
		r.SetCookie(token)
	}
}
