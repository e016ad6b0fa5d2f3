package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"retwis/internal/auth"
)

// staleFor is how long after a cookie was found to be stale the response may clear it. A
// later response could clear the cookie of a session that was opened meanwhile.
const staleFor = 2 * time.Second

// cookieName returns the name of the session cookie. Browsers accept the prefixed name
// over TLS only, and from this host only.
func cookieName(tls bool) string {
	if tls {
		return auth.SecureCookieName
	}
	return auth.CookieName
}

// cookieJar holds the change of the session cookie until the header of the response is
// written.
type cookieJar struct {
	mu      sync.Mutex
	set     bool
	token   string
	foreign bool      // the client's cookie is of another session than the request
	staleBy time.Time // when it is too late to clear a stale cookie
}

// keepForeign keeps a cookie that belongs to another session than the request: it does not
// end with the request's session.
func (j *cookieJar) keepForeign(cookie, token string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.foreign = cookie != token
}

// attach returns a context in which an operation sets the cookie through the jar.
func (j *cookieJar) attach(ctx context.Context) context.Context {
	request := auth.RequestOf(ctx)
	request.SetCookie = j.put
	return auth.WithRequest(ctx, request)
}

// put sets the cookie to a token; the empty token clears the cookie. The last call wins.
func (j *cookieJar) put(token string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if token == "" && j.foreign {
		return
	}
	j.set, j.token, j.staleBy = true, token, time.Time{}
}

// clearStale clears a cookie without a session.
func (j *cookieJar) clearStale() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.set, j.token, j.staleBy = true, "", time.Now().Add(staleFor)
}

// holdsToken reports whether the response starts a session: its body has the token, too.
func (j *cookieJar) holdsToken() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.set && j.token != ""
}

// write adds the change to the header, if there is one.
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
