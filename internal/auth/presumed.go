package auth

import (
	"context"

	"retwis/internal/retwis"
)

// maxKnown is the maximum number of identities that are remembered. Each takes about 300 bytes.
const maxKnown = 1 << 15

// Presumed is the identity of a token as of the last read of its session. The session may have ended since. Call Holds before you
// show a result or change anything under this identity.
type Presumed struct {
	Identity Identity

	// Holds reports whether the identity is still right. It reads the session, unless an exchange with the context of
	// [Accounts.Presume] has read it. It is also false if the session cannot be read.
	Holds func(context.Context) bool
}

// Presume returns the presumed identity of a token, and a context in which to act on it: the first exchange of the context with
// the store reads the session, too. It reports false for a token that it does not remember.
func (a *Accounts) Presume(ctx context.Context, token string) (context.Context, Presumed, bool) {
	key, err := ParseToken(token)
	if err != nil {
		return ctx, Presumed{}, false
	}
	who, ok := a.known.Get(key)
	if !ok {
		return ctx, Presumed{}, false
	}
	ctx, find := a.sessions.SessionAlong(ctx, key)
	return ctx, Presumed{who, func(ctx context.Context) bool {
		holder, err := find(ctx)
		return err == nil && identityOf(key, holder) == who
	}}, true
}

func identityOf(key retwis.SessionKey, holder retwis.SessionOwner) Identity {
	return Identity{User: holder.User, Session: key, Generation: holder.Generation, FilterEpoch: holder.FilterEpoch}
}
