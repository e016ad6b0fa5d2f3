package clients

import (
	"context"
	"errors"
	"time"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// authTimeout bounds the reading of one session.
const authTimeout = 5 * time.Second

// Credentials are what a client sends to authenticate. Without a token it is anonymous.
type Credentials struct {
	Token  string
	Bearer bool // sent on purpose, so an invalid one is an error; a cookie may simply be stale
}

// Authenticator finds the session of a token. It returns retwis.ErrUnauthenticated for a
// token without a session; any other error means that the session could not be read.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (auth.Identity, error)
}

// Authenticate returns the identity that credentials prove. For an invalid bearer token
// the error is retwis.ErrUnauthenticated.
//
// A stale cookie yields the anonymous identity, and is reported as stale so that it can be cleared. A recently
// replaced cookie is not reported as stale, because clearing it would delete the new cookie.
func Authenticate(ctx context.Context, accounts Authenticator, c Credentials) (who auth.Identity, stale bool, err error) {
	if !c.Bearer && c.Token == "" {
		return auth.Identity{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	who, err = accounts.Authenticate(ctx, c.Token)
	if err != nil && !c.Bearer && errors.Is(err, retwis.ErrUnauthenticated) {
		return auth.Identity{}, !errors.Is(err, retwis.ErrSessionReplaced), nil
	}
	return who, false, err
}

// ClientOf returns the client of a context.
func ClientOf(ctx context.Context) ratelimit.Client {
	return ratelimit.Client{User: auth.IdentityOf(ctx).User, Address: auth.RequestOf(ctx).Address}
}

// KeyOf returns the key under which the connections and subscriptions of a context count.
func KeyOf(ctx context.Context) ratelimit.Key { return ClientOf(ctx).Key() }
