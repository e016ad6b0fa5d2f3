package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// sessions returns the sessions of the viewer.
func (r *Resolver) sessions(ctx context.Context) ([]*retwis.Session, error) {
	type key struct{ auth.Identity }
	who := auth.IdentityOf(ctx)
	return loaders.Once(ctx, key{who}, func() ([]*retwis.Session, error) {
		found, err := r.Accounts.Sessions(ctx, who)
		if err != nil {
			return nil, err
		}
		sessions := make([]*retwis.Session, len(found))
		for i := range found {
			sessions[i] = &found[i]
		}
		return sessions, nil
	})
}

// sessionsByID returns sessions of the viewer in the order of the ids, nil for those that do not exist.
func (r *Resolver) sessionsByID(ctx context.Context, ids []retwis.SessionID) ([]*retwis.Session, error) {
	all, err := r.sessions(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.Session, len(ids))
	for i, id := range ids {
		for _, session := range all {
			if session.ID == id {
				found[i] = session
			}
		}
	}
	return found, nil
}

// revokeSession ends a session of the viewer, which may be the current one.
func (r *Resolver) revokeSession(ctx context.Context, who auth.Identity, sessionID string) error {
	id, ok := parseGlobalID(sessionID).(retwis.SessionID)
	if !ok {
		return retwis.ErrSessionNotFound
	}
	if err := r.Accounts.RevokeSession(ctx, who, id); err != nil {
		return err
	}
	if id == who.SessionID() {
		auth.RequestOf(ctx).SetSessionCookie("")
	}
	return nil
}
