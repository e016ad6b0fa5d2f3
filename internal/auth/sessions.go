package auth

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// Login opens a session. An unknown name, an account whose registration is unfinished
// and a wrong password all give [retwis.ErrWrongCredentials], after the same work.
func (a *Accounts) Login(ctx context.Context, username, password, userAgent string) (Session, error) {
	form, ok := retwis.PasswordForm(password)
	if !ok { // of no account, whatever the name: nothing is given away by being quick
		return Session{}, retwis.ErrWrongCredentials
	}
	checked, err := a.check(ctx, username, form)
	if err != nil {
		return Session{}, fmt.Errorf("log in: %w", err)
	}
	checked.PasswordHash = a.rehashed(ctx, checked, form)
	session, err := a.open(ctx, checked, form, userAgent)
	if err != nil {
		return Session{}, fmt.Errorf("log in: %w", err)
	}
	return session, nil
}

// check returns the credentials that a name and a password fit, or
// retwis.ErrWrongCredentials.
func (a *Accounts) check(ctx context.Context, username, form string) (retwis.Credentials, error) {
	credentials, err := retwis.Credentials{}, error(retwis.ErrNotFound)
	if retwis.IsUsername(username) {
		credentials, err = a.store.Credentials(ctx, username)
	}
	if errors.Is(err, retwis.ErrNotFound) {
		if err := a.hasher.matchesNothing(ctx, form); err != nil {
			return retwis.Credentials{}, err
		}
		return retwis.Credentials{}, retwis.ErrWrongCredentials
	}
	if err != nil {
		return retwis.Credentials{}, err
	}
	right, err := a.hasher.matches(ctx, form, credentials.PasswordHash)
	if err != nil {
		return retwis.Credentials{}, fmt.Errorf("check the password of %s: %w", credentials.User, err)
	}
	if !right {
		return retwis.Credentials{}, retwis.ErrWrongCredentials
	}
	return credentials, nil
}

// rehashed brings a hash of other parameters up to date, while the password is at hand,
// and returns the hash that is stored then. A failure costs nothing but another try at
// the next login.
func (a *Accounts) rehashed(ctx context.Context, checked retwis.Credentials, form string) string {
	if !a.hasher.outdated(checked.PasswordHash) {
		return checked.PasswordHash
	}
	hash, err := a.hasher.hash(ctx, form)
	if err == nil {
		err = a.store.SetPasswordHash(ctx, checked.User, checked.PasswordHash, hash)
	}
	if err != nil {
		a.log.WarnContext(ctx, "bringing a password hash up to date failed", "user", checked.User, "err", err)
		return checked.PasswordHash
	}
	return hash
}

// open opens a session of a user whose password was checked against the hash. When the
// password has changed since, the error is retwis.ErrWrongCredentials.
func (a *Accounts) open(ctx context.Context, checked retwis.Credentials, form, userAgent string) (Session, error) {
	token, session := newSession(checked.User, userAgent)
	err := a.sessions.CreateSession(ctx, session)
	if err != nil && !errors.Is(err, retwis.ErrNotFound) {
		return Session{}, err
	}
	// A change of password ends the sessions that exist. One that was checked before the
	// change and created after it would live on, so the check is repeated now. Where it
	// fails the session stays behind, but nobody was told its token.
	if err == nil {
		err = a.recheck(ctx, checked, form)
	}
	var users []*retwis.User
	if err == nil {
		users, err = a.store.Users(ctx, []retwis.UserID{checked.User})
	}
	if errors.Is(err, retwis.ErrNotFound) || (err == nil && users[0] == nil) {
		return Session{}, retwis.ErrWrongCredentials
	}
	if err != nil {
		return Session{}, err
	}
	return Session{Token: token, User: users[0]}, nil
}

// newSession returns a new session of a user, and its token.
func newSession(user retwis.UserID, userAgent string) (token string, session retwis.NewSession) {
	token, key := NewToken(user.Bucket())
	return token, retwis.NewSession{User: user, Key: key, UserAgent: retwis.CleanUserAgent(userAgent)}
}

func (a *Accounts) recheck(ctx context.Context, checked retwis.Credentials, form string) error {
	now, err := a.store.CredentialsOf(ctx, checked.User)
	if err != nil || now.PasswordHash == checked.PasswordHash {
		return err
	}
	// It may be another hash of the same password: a login beside this one renewed it.
	right, err := a.hasher.matches(ctx, form, now.PasswordHash)
	if err == nil && !right {
		err = retwis.ErrWrongCredentials
	}
	return err
}

// Authenticate returns who shows a token, or [retwis.ErrUnauthenticated]. Where the
// client has just been given another one the error is [retwis.ErrSessionReplaced], too.
func (a *Accounts) Authenticate(ctx context.Context, token string) (Identity, error) {
	key, err := ParseToken(token)
	if err != nil {
		return Identity{}, err
	}
	holder, err := a.sessions.Session(ctx, key)
	if err != nil {
		return Identity{}, fmt.Errorf("authenticate: %w", err)
	}
	return Identity{User: holder.User, Session: key, Generation: holder.Generation}, nil
}

// Logout ends the session that is asking.
func (a *Accounts) Logout(ctx context.Context, who Identity) error {
	if _, err := who.viewer(); err != nil {
		return err
	}
	if err := a.sessions.EndSession(ctx, who.Session); err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// Sessions returns the viewer's sessions, the one used last first.
func (a *Accounts) Sessions(ctx context.Context, who Identity) ([]retwis.Session, error) {
	viewer, err := who.viewer()
	if err != nil {
		return nil, err
	}
	sessions, err := a.sessions.Sessions(ctx, viewer)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for i := range sessions {
		sessions[i].Current = sessions[i].ID == who.SessionID()
	}
	return sessions, nil
}

// RevokeSession ends one session of the viewer. One that has ended is no error, another's
// is [retwis.ErrSessionNotFound].
func (a *Accounts) RevokeSession(ctx context.Context, who Identity, id retwis.SessionID) error {
	viewer, err := who.viewer()
	if err != nil {
		return err
	}
	if id.User != viewer {
		return retwis.ErrSessionNotFound
	}
	if err := a.sessions.RevokeSession(ctx, id); err != nil {
		return fmt.Errorf("revoke a session: %w", err)
	}
	return nil
}

// LogoutEverywhere ends every session of the viewer, the one that is asking too.
func (a *Accounts) LogoutEverywhere(ctx context.Context, who Identity) error {
	viewer, err := who.viewer()
	if err != nil {
		return err
	}
	if err := a.sessions.EndSessions(ctx, viewer); err != nil {
		return fmt.Errorf("log out everywhere: %w", err)
	}
	return nil
}

// ChangePassword gives the viewer another password, ends every session, and opens a new
// one. A wrong current password is WRONG_CREDENTIALS on currentPassword. When the
// password was changed and the session was not opened, the error is internal, and the
// new password logs in.
func (a *Accounts) ChangePassword(ctx context.Context, who Identity, current, changed, userAgent string) (Session, error) {
	if _, err := who.viewer(); err != nil {
		return Session{}, err
	}
	newForm, err := retwis.NormalizePassword("newPassword", changed)
	if err != nil {
		return Session{}, err
	}
	currentForm, ok := retwis.PasswordForm(current)
	if !ok {
		return Session{}, errWrongCurrentPassword()
	}
	credentials, err := a.replaceHash(ctx, who, currentForm, newForm)
	if err != nil {
		return Session{}, fmt.Errorf("change the password: %w", err)
	}
	session, err := a.open(ctx, credentials, newForm, userAgent)
	if err != nil {
		return Session{}, fmt.Errorf("open a session with the changed password: %w", err)
	}
	return session, nil
}

// replaceTries is how often a hash may change under a change of password: each login
// beside it may bring the hash up to date.
const replaceTries = 3

func (a *Accounts) replaceHash(ctx context.Context, who Identity, currentForm, newForm string) (retwis.Credentials, error) {
	user := who.User
	var hash string
	for range replaceTries {
		stored, err := a.store.CredentialsOf(ctx, user)
		if errors.Is(err, retwis.ErrNotFound) {
			return retwis.Credentials{}, retwis.ErrUnauthenticated
		}
		if err != nil {
			return retwis.Credentials{}, err
		}
		right, err := a.hasher.matches(ctx, currentForm, stored.PasswordHash)
		if err != nil {
			return retwis.Credentials{}, fmt.Errorf("check the password of %s: %w", user, err)
		}
		if !right {
			return retwis.Credentials{}, errWrongCurrentPassword()
		}
		if hash == "" {
			if hash, err = a.hasher.hash(ctx, newForm); err != nil {
				return retwis.Credentials{}, err
			}
		}
		err = a.store.ChangePassword(ctx, user, who.Session, stored.PasswordHash, hash)
		if err == nil {
			return retwis.Credentials{User: user, PasswordHash: hash}, nil
		}
		if !errors.Is(err, retwis.ErrWrongCredentials) {
			return retwis.Credentials{}, err
		}
	}
	return retwis.Credentials{}, errWrongCurrentPassword()
}

func errWrongCurrentPassword() error {
	return retwis.FieldError(retwis.CodeWrongCredentials, "currentPassword", "wrong current password")
}
