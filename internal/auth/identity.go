package auth

import (
	"context"

	"retwis/internal/retwis"
)

// Identity is who is asking, and by which session. The zero value is anonymous.
type Identity struct {
	User       retwis.UserID
	Session    retwis.SessionKey
	Generation int64 // of the session, as in [retwis.SessionOwner]
}

// SessionID returns what the session that asks is called.
func (who Identity) SessionID() retwis.SessionID { return retwis.SessionIDOf(who.User, who.Session) }

// EndedBy reports whether the session is among those that ended.
func (who Identity) EndedBy(end retwis.SessionEnd) bool {
	return end.Ends(retwis.SessionOwner{User: who.User, Generation: who.Generation}, who.Session)
}

type identityKey struct{}

// WithIdentity returns a context of what the identity asks for.
func WithIdentity(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}

// IdentityOf returns who is asking: anonymous where nobody said.
func IdentityOf(ctx context.Context) Identity {
	who, _ := ctx.Value(identityKey{}).(Identity)
	return who
}

// Viewer returns the user who is asking, or [retwis.ErrUnauthenticated].
func Viewer(ctx context.Context) (retwis.UserID, error) {
	return IdentityOf(ctx).viewer()
}

func (who Identity) viewer() (retwis.UserID, error) {
	if who.User == 0 {
		return 0, retwis.ErrUnauthenticated
	}
	return who.User, nil
}
