package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"retwis/internal/retwis"
)

// AccountStore is what accounts and sessions are kept in.
type AccountStore interface {
	// Register makes an account, or fails with retwis.ErrNameTaken.
	Register(ctx context.Context, account retwis.Registration) (*retwis.User, error)
	// Users returns users in the order asked for, nil where there is none.
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	UpdateProfile(ctx context.Context, user retwis.UserID, change retwis.ProfileChange) (*retwis.User, error)

	// Credentials finds them by name without regard to case. It fails with
	// retwis.ErrNotFound where there is no such account or its registration is unfinished.
	Credentials(ctx context.Context, username string) (retwis.Credentials, error)
	CredentialsOf(ctx context.Context, user retwis.UserID) (retwis.Credentials, error)
	// SetPasswordHash replaces a hash by another of the same password. It fails with
	// retwis.ErrWrongCredentials when oldHash is no longer the stored one, lest it undo
	// a change of the password.
	SetPasswordHash(ctx context.Context, user retwis.UserID, oldHash, newHash string) error
	// ChangePassword replaces a hash and ends every session of the user, in one step. It
	// fails with retwis.ErrWrongCredentials when oldHash is no longer the stored one.
	// The session that asks is known as replaced for a while.
	ChangePassword(ctx context.Context, user retwis.UserID, asking retwis.SessionKey, oldHash, newHash string) error
	// DeleteAccount closes an account, ends its sessions in the same step, and queues the
	// deletion of what it owns. It fails with retwis.ErrWrongCredentials when hash is no
	// longer the stored one.
	DeleteAccount(ctx context.Context, user retwis.UserID, hash string) error
}

// SessionStore is where sessions are kept.
type SessionStore interface {
	// CreateSession fails with retwis.ErrNotFound where there is no such account.
	CreateSession(ctx context.Context, session retwis.NewSession) error
	// Session returns whose it is, or fails with retwis.ErrUnauthenticated; for one that
	// was replaced just now, with retwis.ErrSessionReplaced as well.
	Session(ctx context.Context, key retwis.SessionKey) (retwis.SessionOwner, error)
	// Sessions returns a user's sessions, the one used last first.
	Sessions(ctx context.Context, user retwis.UserID) ([]retwis.Session, error)
	RevokeSession(ctx context.Context, id retwis.SessionID) error
	EndSession(ctx context.Context, key retwis.SessionKey) error
	EndSessions(ctx context.Context, user retwis.UserID) error
}

// Options of [NewAccounts]. Where one is left out, its default holds.
type Options struct {
	Hash           HashParameters // of new hashes: 19 MiB, 2 passes, 1 lane
	ParallelHashes int            // computed at once: half the cores
	WaitingHashes  int            // that may wait for their turn: 64; above that logins are RATE_LIMITED
	Log            *slog.Logger
}

// Accounts lets people in: it knows the rules of names and passwords, the store keeps
// what comes of them. Its methods may be called at the same time.
//
// Where several fields are wrong at once the error joins a user error for each;
// [retwis.UserErrors] takes them apart.
type Accounts struct {
	store    AccountStore
	sessions SessionStore
	hasher   *hasher
	log      *slog.Logger
}

// Session is a session that was opened just now.
type Session struct {
	Token string // the only copy
	User  *retwis.User
}

// NewAccounts returns accounts kept in the store. It fails when the parameters are
// outside of what a stored hash may ask for.
func NewAccounts(store AccountStore, sessions SessionStore, opts Options) (*Accounts, error) {
	if opts.Hash == (HashParameters{}) {
		opts.Hash = HashParameters{MemoryKiB: 19 << 10, Passes: 2, Lanes: 1}
	}
	if err := opts.Hash.check(); err != nil {
		return nil, fmt.Errorf("parameters of password hashes: %w", err)
	}
	if opts.ParallelHashes <= 0 {
		opts.ParallelHashes = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if opts.WaitingHashes <= 0 {
		opts.WaitingHashes = 64
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Accounts{
		store: store, sessions: sessions,
		hasher: newHasher(opts.Hash, opts.ParallelHashes, opts.WaitingHashes),
		log:    opts.Log,
	}, nil
}

// Register makes an account and opens its first session. Without a display name the
// username serves. When the account was made and the session was not, the error is
// internal, and its owner can log in.
func (a *Accounts) Register(ctx context.Context, username, password string, displayName *string, userAgent string) (Session, error) {
	nameErr := retwis.CheckUsername(username)
	form, passwordErr := retwis.NormalizePassword("password", password)
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

// UpdateProfile changes what is not nil of the viewer's profile, and returns the user as
// it is then.
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
