package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"

	"retwis/internal/retwis"
)

// AccountStore stores accounts.
type AccountStore interface {
	// Register creates an account, or fails with retwis.ErrNameTaken.
	Register(ctx context.Context, account retwis.Registration) (*retwis.User, error)
	// Users returns users in the order of the ids, nil for those that do not exist.
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	UpdateProfile(ctx context.Context, user retwis.UserID, change retwis.ProfileChange) (*retwis.User, error)

	// Credentials returns the credentials of a username, regardless of case. It fails with
	// retwis.ErrNotFound if the account does not exist or its registration is unfinished.
	Credentials(ctx context.Context, username string) (retwis.Credentials, error)
	CredentialsOf(ctx context.Context, user retwis.UserID) (retwis.Credentials, error)
	// SetPasswordHash replaces a hash by another one of the same password. It fails with
	// retwis.ErrWrongCredentials if oldHash is no longer the stored one, so that it does not
	// revert a change of the password.
	SetPasswordHash(ctx context.Context, user retwis.UserID, oldHash, newHash string) error
	// ChangePassword replaces a hash and ends all sessions of the user atomically. It fails
	// with retwis.ErrWrongCredentials if oldHash is no longer the stored one. For a while, the
	// store reports the session of the request as replaced.
	ChangePassword(ctx context.Context, user retwis.UserID, asking retwis.SessionKey, oldHash, newHash string) error
	// DeleteAccount closes an account, ends its sessions and queues the deletion of its data,
	// atomically. It fails with retwis.ErrWrongCredentials if hash is no longer the stored one.
	DeleteAccount(ctx context.Context, user retwis.UserID, hash string) error
}

// SessionStore stores sessions.
type SessionStore interface {
	// CreateSession fails with retwis.ErrNotFound if the account does not exist.
	CreateSession(ctx context.Context, session retwis.NewSession) error
	// Session returns the owner of a session, or fails with retwis.ErrUnauthenticated. For a
	// session that was replaced recently, the error is also retwis.ErrSessionReplaced.
	Session(ctx context.Context, key retwis.SessionKey) (retwis.SessionOwner, error)
	// SessionAlong returns a context whose first exchange with the store also reads a session, and a function that returns
	// what it found. That function reads the session itself if there was no such exchange.
	SessionAlong(ctx context.Context, key retwis.SessionKey) (context.Context, func(context.Context) (retwis.SessionOwner, error))
	// Sessions returns the sessions of a user, the most recently used first.
	Sessions(ctx context.Context, user retwis.UserID) ([]retwis.Session, error)
	RevokeSession(ctx context.Context, id retwis.SessionID) error
	EndSession(ctx context.Context, key retwis.SessionKey) error
	EndSessions(ctx context.Context, user retwis.UserID) error
}

// Options of [NewAccounts]. A zero field selects the default.
type Options struct {
	Hash HashParameters // of new hashes; by default 19 MiB, 2 passes, 1 lane

	// Turn waits until a hash may be computed for the request of a context. The returned function is called afterwards. It may refuse the hash, as
	// RATE_LIMITED for example. By default no hash waits, and their number has no bound.
	Turn func(ctx context.Context) (done func(), err error)

	Log *slog.Logger
}

// Accounts registers and authenticates users. It applies the rules for usernames and
// passwords; the store keeps the results. It is safe for concurrent use.
//
// If several fields are invalid, the error joins a user error for each of them, which
// [retwis.UserErrors] separates.
type Accounts struct {
	store    AccountStore
	sessions SessionStore
	hasher   *hasher
	log      *slog.Logger
	known    *lru.Cache[retwis.SessionKey, Identity] // as read last
}

// Session is a new session.
type Session struct {
	Token string // the only copy
	User  *retwis.User
}

// NewAccounts returns accounts in a store. It fails if the hash parameters are outside the
// bounds of stored hashes.
func NewAccounts(store AccountStore, sessions SessionStore, opts Options) (*Accounts, error) {
	if opts.Hash == (HashParameters{}) {
		opts.Hash = HashParameters{MemoryKiB: 19 << 10, Passes: 2, Lanes: 1}
	}
	if err := opts.Hash.check(); err != nil {
		return nil, fmt.Errorf("parameters of password hashes: %w", err)
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	known, err := lru.New[retwis.SessionKey, Identity](maxKnown)
	if err != nil {
		return nil, fmt.Errorf("remember sessions: %w", err)
	}
	return &Accounts{
		store: store, sessions: sessions,
		hasher: newHasher(opts.Hash, opts.Turn),
		log:    opts.Log,
		known:  known,
	}, nil
}

// Register creates an account and its first session. The default display name is the
// username. If the account was created but not the session, the error is internal, and the
// user can log in.
func (a *Accounts) Register(ctx context.Context, username, password string, displayName *string, userAgent string) (Session, error) {
	nameErr := retwis.CheckUsername(username)
	form, passwordErr := retwis.NewPassword("password", password)
	shown, shownErr := username, error(nil)
	if displayName != nil {
		shown, shownErr = retwis.NormalizeDisplayName(*displayName)
	}
	if err := errors.Join(nameErr, passwordErr, shownErr); err != nil {
		return Session{}, err
	}
	hash, err := a.hasher.hash(ctx, form)
	if err != nil {
		return Session{}, fmt.Errorf("register: %w", err)
	}
	user, err := a.store.Register(ctx, retwis.Registration{Username: username, DisplayName: shown, PasswordHash: hash})
	if err != nil {
		return Session{}, fmt.Errorf("register: %w", err)
	}
	token, session := newSession(user.ID, userAgent)
	if err := a.sessions.CreateSession(ctx, session); err != nil {
		return Session{}, fmt.Errorf("open the first session of %s: %w", user.ID, err)
	}
	return Session{Token: token, User: user}, nil
}

// UpdateProfile changes the fields of the viewer's profile that are not nil, and returns the
// changed user.
func (a *Accounts) UpdateProfile(ctx context.Context, who Identity, change retwis.ProfileChange) (*retwis.User, error) {
	viewer, err := who.viewer()
	if err != nil {
		return nil, err
	}
	var normal retwis.ProfileChange
	var nameErr, bioErr error
	if change.DisplayName != nil {
		var name string
		name, nameErr = retwis.NormalizeDisplayName(*change.DisplayName)
		normal.DisplayName = &name
	}
	if change.Bio != nil {
		var bio string
		bio, bioErr = retwis.NormalizeBio(*change.Bio)
		normal.Bio = &bio
	}
	if err := errors.Join(nameErr, bioErr); err != nil {
		return nil, err
	}
	user, err := a.store.UpdateProfile(ctx, viewer, normal)
	if err != nil {
		return nil, fmt.Errorf("update a profile: %w", err)
	}
	return user, nil
}
