package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// credentials are what a client shows to say who it is. Without a token it is anonymous.
type credentials struct {
	token  string
	bearer bool // shown on purpose, so a bad one is an error; a cookie may simply be stale
}

// credentialsOf reads the credentials of a request: the bearer token, else the cookie.
func (s *Server) credentialsOf(r *http.Request) credentials {
	if token, ok := bearerToken(r.Header.Get("Authorization")); ok {
		return credentials{token: token, bearer: true}
	}
	if cookie, err := r.Cookie(cookieName(s.overTLS(r))); err == nil {
		return credentials{token: cookie.Value}
	}
	return credentials{}
}

// bearerToken returns the token of an Authorization value. It reports false for other
// schemes: those are between the client and whatever stands in front of the service.
func bearerToken(value string) (string, bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// authenticate returns whose the credentials are. A stale cookie is the anonymous
// identity and reported as stale, unless the client was just given another one: it would
// be that one which is cleared. A bad bearer token is retwis.ErrUnauthenticated.
func (s *Server) authenticate(ctx context.Context, c credentials) (who auth.Identity, stale bool, err error) {
	if !c.bearer && c.token == "" {
		return auth.Identity{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	who, err = s.opts.Accounts.Authenticate(ctx, c.token)
	if err != nil && !c.bearer && errors.Is(err, retwis.ErrUnauthenticated) {
		return auth.Identity{}, !errors.Is(err, retwis.ErrSessionReplaced), nil
	}
	return who, false, err
}

// overTLS reports whether the client's own connection is encrypted.
func (s *Server) overTLS(r *http.Request) bool { return s.proxies.overTLS(r) }
