package servertest

import (
	"context"
	"sync"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/server/requestid"
)

// Accounts know sessions. They implement [httpapi.Accounts].
type Accounts struct {
	mu       sync.Mutex
	sessions map[string]auth.Identity
	presumed map[string]auth.Identity // as read last
	calls    int
	broken   error
	during   func() // runs after the session was read, before the response
}

// Open opens a session of a generation and returns its token.
func (a *Accounts) Open(user retwis.UserID, generation int64) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	token := "token-" + requestid.New()
	a.sessions[token] = auth.Identity{
		User: user, Session: retwis.SessionKey{Bucket: user.Bucket(), Hash: "hash of " + token}, Generation: generation,
	}
	return token
}

// End ends a session and returns the announcement, which no server has received.
func (a *Accounts) End(token string) retwis.SessionEnd {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.sessions[token]
	delete(a.sessions, token)
	return retwis.SessionEnd{User: who.User, Session: who.Session}
}

// Set makes reads of sessions fail with broken, if it is not nil, and calls during, if it is not nil, in the next read.
func (a *Accounts) Set(broken error, during func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken, a.during = broken, during
}

// Calls returns how often a session was read.
func (a *Accounts) Calls() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls
}

// Authenticate implements [clients.Authenticator].
func (a *Accounts) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	a.mu.Lock()
	a.calls++
	who, ok := a.sessions[token]
	err, during := a.broken, a.during
	a.during = nil
	a.mu.Unlock()
	if during != nil {
		during()
	}
	switch {
	case err != nil:
		return auth.Identity{}, err
	case !ok:
		return auth.Identity{}, retwis.ErrUnauthenticated
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.presumed[token] = who
	return who, nil
}

// Presume implements [httpapi.Accounts]. It reads the session when it is asked whether the identity holds.
func (a *Accounts) Presume(ctx context.Context, token string) (context.Context, auth.Presumed, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	presumed, ok := a.presumed[token]
	return ctx, auth.Presumed{Identity: presumed, Holds: func(ctx context.Context) bool {
		who, err := a.Authenticate(ctx, token)
		return err == nil && who == presumed
	}}, ok
}
