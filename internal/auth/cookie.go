package auth

import "context"

// Names of the session cookie. Browsers take the secure one over TLS only, for the whole
// of this host, and from nobody else.
const (
	CookieName       = "retwis_session"
	SecureCookieName = "__Host-retwis_session"
)

type cookieKey struct{}

// WithSessionCookie returns a context in which [SetSessionCookie] calls set. A transport
// that has cookies puts it around an operation.
func WithSessionCookie(ctx context.Context, set func(token string)) context.Context {
	return context.WithValue(ctx, cookieKey{}, set)
}

// SetSessionCookie makes the client's cookie hold the token; the empty token clears it.
// Where the transport has no cookies it does nothing.
func SetSessionCookie(ctx context.Context, token string) {
	if set, ok := ctx.Value(cookieKey{}).(func(string)); ok {
		set(token)
	}
}
