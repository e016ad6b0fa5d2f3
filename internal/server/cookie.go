package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"retwis/internal/auth"
)

// staleFor is how long after a cookie was found to be stale the answer may clear it. One
// that comes later could clear the cookie of a session opened since; the next will do.
const staleFor = 2 * time.Second

// cookieName returns the name of the session cookie. Browsers accept the prefixed name
// over TLS only, and from nobody but this host.
func cookieName(tls bool) string {
	if tls {
		return auth.SecureCookieName
	}
	return auth.CookieName
}

// cookieJar holds what is to become of the session cookie, until the response's header
// is written.
type cookieJar struct {
	mu      sync.Mutex
	set     bool
	token   string
	foreign bool      // the client has the cookie of another session than the one that asks
	staleBy time.Time // when it is too late to clear a stale cookie
}

// keep leaves the client its cookie, where that is of another session than the one that
// asks: it does not end with it.
func (j *cookieJar) keep(cookie, asking string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.foreign = cookie != asking
}

// attach returns a context in which an operation sets the cookie through the jar.
func (j *cookieJar) attach(ctx context.Context) context.Context {
	request := auth.RequestOf(ctx)
	request.SetCookie = j.put
	return auth.WithRequest(ctx, request)
}

// put asks for the cookie to hold a token; the empty one clears it. The last call wins.
func (j *cookieJar) put(token string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if token == "" && j.foreign {
		return
	}
	j.set, j.token, j.staleBy = true, token, time.Time{}
}

// stale asks for a cookie that is good for nothing to be cleared.
func (j *cookieJar) stale() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.set, j.token, j.staleBy = true, "", time.Now().Add(staleFor)
}

// write adds the cookie to the header, if one was asked for.
func (j *cookieJar) write(h http.Header, tls bool, maxAge time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.set || (!j.staleBy.IsZero() && time.Now().After(j.staleBy)) {
		return
	}
	cookie := http.Cookie{
		Name:     cookieName(tls),
		Value:    j.token,
		Path:     "/",
		MaxAge:   int(maxAge.Seconds()),
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   tls,
	}
	if j.token == "" {
		cookie.MaxAge = -1
	}
	h.Add("Set-Cookie", cookie.String())
}
