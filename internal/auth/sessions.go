package auth

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// Login creates a session. For an unknown username, an unfinished registration and a wrong
// password the error is [retwis.ErrWrongCredentials], and the computing time is the same.
func (a *Accounts) Login(ctx context.Context, username, password, userAgent string) (Session, error) {
	form, ok := retwis.PasswordForm(password)
	if !ok { // no account can have it, so the short response time reveals nothing
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

// check returns the credentials that match a username and a password, or
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

// rehashed replaces a hash with outdated parameters, because only a login has the password,
// and returns the stored hash. After a failure the next login tries again.
func (a *Accounts) rehashed(ctx context.Context, checked retwis.Credentials, form string) string {
	if !a.hasher.outdated(checked.PasswordHash) {
		return checked.PasswordHash
	}
	hash, err := a.hasher.hash(ctx, form)
	if err == nil {
		err = a.store.SetPasswordHash(ctx, checked.User, checked.PasswordHash, hash)
	}
	if err != nil {
		a.log.WarnContext(ctx, "auth: updating a password hash failed", "user", checked.User, "err", err)
		return checked.PasswordHash
	}
	return hash
}

// open creates a session of a user whose password was checked. If the password has changed
// since the check, the error is retwis.ErrWrongCredentials.
func (a *Accounts) open(ctx context.Context, checked retwis.Credentials, form, userAgent string) (Session, error) {
	token, session := newSession(checked.User, userAgent)
	err := a.sessions.CreateSession(ctx, session)
	if err != nil && !errors.Is(err, retwis.ErrNotFound) {
		return Session{}, err
	}
	// A change of the password ends the existing sessions. A login checked before the change
	// would create a session after it, so the check is repeated now. If it fails, the session
	// remains, but nobody has received its token.
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

// newSession returns a new session of a user and its token.
func newSession(user retwis.UserID, userAgent string) (token string, session retwis.NewSession) {
	token, key := NewToken(user.Bucket())
	return token, retwis.NewSession{User: user, Key: key, UserAgent: retwis.CleanUserAgent(userAgent)}
}

func (a *Accounts) recheck(ctx context.Context, checked retwis.Credentials, form string) error {
	now, err := a.store.CredentialsOf(ctx, checked.User)
	if err != nil || now.PasswordHash == checked.PasswordHash {
		return err
	}
	// A concurrent login may have stored another hash of the same password.
	right, err := a.hasher.matches(ctx, form, now.PasswordHash)
	if err == nil && !right {
		err = retwis.ErrWrongCredentials
	}
	return err
}

// Authenticate returns the identity of a token, or [retwis.ErrUnauthenticated]. If the client
// has recently received another token, the error is also [retwis.ErrSessionReplaced].
func (a *Accounts) Authenticate(ctx context.Context, token string) (Identity, error) {
	key, err := ParseToken(token)
	if err != nil {
		return Identity{}, err
	}
	holder, err := a.sessions.Session(ctx, key)
	if err != nil {
		a.known.Remove(key)
		return Identity{}, fmt.Errorf("authenticate: %w", err)
	}
	who := identityOf(key, holder)
	a.known.Add(key, who)
	return who, nil
}

// Logout ends the session of the request.
func (a *Accounts) Logout(ctx context.Context, who Identity) error {
	if _, err := who.viewer(); err != nil {
		return err
	}
	if err := a.sessions.EndSession(ctx, who.Session); err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// Sessions returns the viewer's sessions, the most recently used first.
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

// RevokeSession ends a session of the viewer. It succeeds if the session has already ended. For
// a session of another user the error is [retwis.ErrSessionNotFound].
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

// LogoutEverywhere ends all sessions of the viewer, including that of the request.
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

// ChangePassword changes the viewer's password, ends all sessions, and creates a new one. The
// error for a wrong current password is WRONG_CREDENTIALS on the field currentPassword; it is
// joined with the error for an invalid new password, so that the user can correct both. If the
// password was changed but the session was not created, the error is internal, and the user
// can log in with the new password.
func (a *Accounts) ChangePassword(ctx context.Context, who Identity, current, changed, userAgent string) (Session, error) {
	if _, err := who.viewer(); err != nil {
		return Session{}, err
	}
	newForm, err := retwis.NewPassword("newPassword", changed)
	if err != nil {
		_, wrong := a.checkPassword(ctx, who.User, "currentPassword", current)
		if _, ok := retwis.UserErrors(wrong); wrong != nil && !ok {
			return Session{}, fmt.Errorf("change the password: %w", wrong)
		}
		return Session{}, errors.Join(wrong, err)
	}
	credentials, err := a.replaceHash(ctx, who, current, newForm)
	if err != nil {
		return Session{}, fmt.Errorf("change the password: %w", err)
	}
	session, err := a.open(ctx, credentials, newForm, userAgent)
	if err != nil {
		return Session{}, fmt.Errorf("open a session with the changed password: %w", err)
	}
	return session, nil
}

// replaceTries bounds the retries of a change whose stored hash has changed meanwhile, because
// a concurrent login may update the hash.
const replaceTries = 3

func (a *Accounts) replaceHash(ctx context.Context, who Identity, current, newForm string) (retwis.Credentials, error) {
	user := who.User
	var hash string
	for range replaceTries {
		stored, err := a.checkPassword(ctx, user, "currentPassword", current)
		if err != nil {
			return retwis.Credentials{}, err
		}
		if hash == "" {
			if hash, err = a.hasher.hash(ctx, newForm); err != nil {
				return retwis.Credentials{}, err
			}
		}
		err = a.store.ChangePassword(ctx, user, who.Session, stored, hash)
		if err == nil {
			return retwis.Credentials{User: user, PasswordHash: hash}, nil
		}
		if !errors.Is(err, retwis.ErrWrongCredentials) {
			return retwis.Credentials{}, err
		}
	}
	return retwis.Credentials{}, errWrongPassword("currentPassword")
}

// checkPassword returns the stored hash of a user's password if it is the given one. The error for
// a wrong password names the input field.
func (a *Accounts) checkPassword(ctx context.Context, user retwis.UserID, field, password string) (string, error) {
	form, ok := retwis.PasswordForm(password)
	if !ok {
		return "", errWrongPassword(field)
	}
	stored, err := a.store.CredentialsOf(ctx, user)
	if errors.Is(err, retwis.ErrNotFound) {
		return "", retwis.ErrUnauthenticated
	}
	if err != nil {
		return "", err
	}
	right, err := a.hasher.matches(ctx, form, stored.PasswordHash)
	if err != nil {
		return "", fmt.Errorf("check the password of %s: %w", user, err)
	}
	if !right {
		return "", errWrongPassword(field)
	}
	return stored.PasswordHash, nil
}

func errWrongPassword(field string) error {
	return retwis.FieldError(retwis.CodeWrongCredentials, field, "wrong password")
}
