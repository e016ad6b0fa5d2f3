package auth

import (
	"context"

	"retwis/internal/retwis"
)

// Identity is the user and the session of a request. The zero value is anonymous.
type Identity struct {
	User       retwis.UserID
	Session    retwis.SessionKey
	Generation int64 // of the session, as in [retwis.SessionOwner]

	FilterEpoch int64 // of the user, when the session was read
}

// SessionID returns the id of the session.
func (who Identity) SessionID() retwis.SessionID { return retwis.SessionIDOf(who.User, who.Session) }

// EndedBy reports whether the session is among the ended ones.
func (who Identity) EndedBy(end retwis.SessionEnd) bool {
	return end.Ends(retwis.SessionOwner{User: who.User, Generation: who.Generation}, who.Session)
}

type identityKey struct{}

// WithIdentity returns a context with the identity of a request.
func WithIdentity(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}

// IdentityOf returns the identity in a context, anonymous if there is none.
func IdentityOf(ctx context.Context) Identity {
	who, _ := ctx.Value(identityKey{}).(Identity)
	return who
}

// Viewer returns the user in a context, or [retwis.ErrUnauthenticated].
func Viewer(ctx context.Context) (retwis.UserID, error) {
	return IdentityOf(ctx).viewer()
}

func (who Identity) viewer() (retwis.UserID, error) {
	if who.User == 0 {
		return 0, retwis.ErrUnauthenticated
	}
	return who.User, nil
}
