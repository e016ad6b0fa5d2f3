package auth

import (
	"context"
	"errors"
	"sync"
	"testing"

	"retwis/internal/retwis"
)

// agent is the user agent of the tests.
const agent = "Mozilla/5.0"

// memory is an AccountStore in memory. The hooks run at the beginning of a call, so that a
// test can insert a step of another client.
type memory struct {
	mu       sync.Mutex
	accounts map[retwis.UserID]*account
	sessions map[retwis.SessionKey]sessionRow
	replaced map[retwis.SessionKey]bool
	calls    int

	beforeCreateSession   func()
	beforeChangePassword  func()
	beforeSetPasswordHash func()
	beforeDeleteAccount   func()
	fail                  error // of every call, if not nil
}

type account struct {
	user       retwis.User
	hash       string
	generation int64
	pending    bool
}

type sessionRow struct {
	user       retwis.UserID
	generation int64
	agent      string
}

func newMemory() *memory {
	return &memory{
		accounts: map[retwis.UserID]*account{},
		sessions: map[retwis.SessionKey]sessionRow{},
		replaced: map[retwis.SessionKey]bool{},
	}
}

// begin runs the hook and locks the store for a call.
func (m *memory) begin(hook *func()) (end func(), err error) {
	if hook != nil && *hook != nil {
		run := *hook
		*hook = nil
		run()
	}
	m.mu.Lock()
	m.calls++
	return m.mu.Unlock, m.fail
}

func (m *memory) active(id retwis.UserID) *account {
	if a := m.accounts[id]; a != nil && !a.pending {
		return a
	}
	return nil
}

func (m *memory) Register(_ context.Context, r retwis.Registration) (*retwis.User, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return nil, err
	}
	for _, a := range m.accounts {
		if retwis.FoldUsername(a.user.Username) == retwis.FoldUsername(r.Username) {
			return nil, retwis.ErrNameTaken
		}
	}
	id := retwis.UserID((len(m.accounts)+1)*retwis.Buckets + 7)
	made := &account{user: retwis.User{ID: id, Username: r.Username, DisplayName: r.DisplayName}, hash: r.PasswordHash}
	m.accounts[id] = made
	user := made.user
	return &user, nil
}

func (m *memory) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return nil, err
	}
	users := make([]*retwis.User, len(ids))
	for i, id := range ids {
		if a := m.active(id); a != nil {
			user := a.user
			users[i] = &user
		}
	}
	return users, nil
}

func (m *memory) UpdateProfile(_ context.Context, id retwis.UserID, change retwis.ProfileChange) (*retwis.User, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return nil, err
	}
	a := m.active(id)
	if a == nil {
		return nil, retwis.ErrNotFound
	}
	if change.DisplayName != nil {
		a.user.DisplayName = *change.DisplayName
	}
	if change.Bio != nil {
		a.user.Bio = *change.Bio
	}
	user := a.user
	return &user, nil
}

func (m *memory) Credentials(_ context.Context, username string) (retwis.Credentials, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return retwis.Credentials{}, err
	}
	for id, a := range m.accounts {
		if !a.pending && retwis.FoldUsername(a.user.Username) == retwis.FoldUsername(username) {
			return retwis.Credentials{User: id, PasswordHash: a.hash}, nil
		}
	}
	return retwis.Credentials{}, retwis.ErrNotFound
}

func (m *memory) CredentialsOf(_ context.Context, id retwis.UserID) (retwis.Credentials, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return retwis.Credentials{}, err
	}
	a := m.active(id)
	if a == nil {
		return retwis.Credentials{}, retwis.ErrNotFound
	}
	return retwis.Credentials{User: id, PasswordHash: a.hash}, nil
}

func (m *memory) SetPasswordHash(_ context.Context, id retwis.UserID, oldHash, newHash string) error {
	end, err := m.begin(&m.beforeSetPasswordHash)
	defer end()
	if err != nil {
		return err
	}
	a := m.active(id)
	if a == nil || a.hash != oldHash {
		return retwis.ErrWrongCredentials
	}
	a.hash = newHash
	return nil
}

func (m *memory) ChangePassword(_ context.Context, id retwis.UserID, asking retwis.SessionKey, oldHash, newHash string) error {
	end, err := m.begin(&m.beforeChangePassword)
	defer end()
	if err != nil {
		return err
	}
	a := m.active(id)
	if a == nil || a.hash != oldHash {
		return retwis.ErrWrongCredentials
	}
	a.hash = newHash
	a.generation++
	m.replaced[asking] = true
	return nil
}

func (m *memory) DeleteAccount(_ context.Context, id retwis.UserID, hash string) error {
	end, err := m.begin(&m.beforeDeleteAccount)
	defer end()
	if err != nil {
		return err
	}
	a := m.active(id)
	if a == nil || a.hash != hash {
		return retwis.ErrWrongCredentials
	}
	delete(m.accounts, id)
	return nil
}

func (m *memory) CreateSession(_ context.Context, session retwis.NewSession) error {
	end, err := m.begin(&m.beforeCreateSession)
	defer end()
	if err != nil {
		return err
	}
	a := m.active(session.User)
	if a == nil {
		return retwis.ErrNotFound
	}
	m.sessions[session.Key] = sessionRow{session.User, a.generation, session.UserAgent}
	return nil
}

// holder returns the owner of a session that has not ended.
func (m *memory) holder(key retwis.SessionKey) (retwis.SessionOwner, bool) {
	row, ok := m.sessions[key]
	a := m.active(row.user)
	return retwis.SessionOwner{User: row.user, Generation: row.generation}, ok && a != nil && a.generation == row.generation
}

func (m *memory) Session(_ context.Context, key retwis.SessionKey) (retwis.SessionOwner, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return retwis.SessionOwner{}, err
	}
	if m.replaced[key] {
		return retwis.SessionOwner{}, errors.Join(retwis.ErrUnauthenticated, retwis.ErrSessionReplaced)
	}
	holder, ok := m.holder(key)
	if !ok {
		return retwis.SessionOwner{}, retwis.ErrUnauthenticated
	}
	return holder, nil
}

func (m *memory) SessionAlong(ctx context.Context, key retwis.SessionKey) (context.Context, func(context.Context) (retwis.SessionOwner, error)) {
	return ctx, func(ctx context.Context) (retwis.SessionOwner, error) { return m.Session(ctx, key) }
}

func (m *memory) Sessions(_ context.Context, id retwis.UserID) ([]retwis.Session, error) {
	end, err := m.begin(nil)
	defer end()
	if err != nil {
		return nil, err
	}
	var found []retwis.Session
	for key, row := range m.sessions {
		if _, ok := m.holder(key); ok && row.user == id {
			found = append(found, retwis.Session{ID: retwis.SessionIDOf(id, key), UserAgent: &row.agent})
		}
	}
	return found, nil
}

func (m *memory) RevokeSession(_ context.Context, id retwis.SessionID) error {
	end, err := m.begin(nil)
	defer end()
	for key, row := range m.sessions {
		if retwis.SessionIDOf(row.user, key) == id {
			delete(m.sessions, key)
		}
	}
	return err
}

func (m *memory) EndSession(_ context.Context, key retwis.SessionKey) error {
	end, err := m.begin(nil)
	defer end()
	delete(m.sessions, key)
	return err
}

func (m *memory) EndSessions(_ context.Context, id retwis.UserID) error {
	end, err := m.begin(nil)
	defer end()
	if a := m.active(id); a != nil {
		a.generation++
	}
	return err
}

// cheap parameters keep tests fast; costlier ones test a change of parameters.
func cheap() HashParameters    { return HashParameters{MemoryKiB: 8, Passes: 1, Lanes: 1} }
func costlier() HashParameters { return HashParameters{MemoryKiB: 16, Passes: 1, Lanes: 1} }

// accountsAndSessions is a store of both.
type accountsAndSessions interface {
	AccountStore
	SessionStore
}

// testAccounts returns accounts in a store, and a function that returns the number of hashes computed.
func testAccounts(t *testing.T, store accountsAndSessions, params HashParameters) (*Accounts, func() int) {
	t.Helper()
	a, err := NewAccounts(store, store, Options{Hash: params})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	hashes := 0
	derive := a.hasher.derive
	a.hasher.derive = func(password, salt []byte, params HashParameters) []byte {
		mu.Lock()
		hashes++
		mu.Unlock()
		return derive(password, salt, params)
	}
	return a, func() int {
		mu.Lock()
		defer mu.Unlock()
		n := hashes
		hashes = 0
		return n
	}
}

func mustRegister(t *testing.T, a *Accounts, username, password string) Session {
	t.Helper()
	session, err := a.Register(t.Context(), username, password, nil, agent)
	if err != nil {
		t.Fatalf("register %s: %v", username, err)
	}
	return session
}

func mustIdentify(t *testing.T, a *Accounts, session Session) Identity {
	t.Helper()
	who, err := a.Authenticate(t.Context(), session.Token)
	if err != nil {
		t.Fatalf("the session of %s is invalid: %v", session.User.Username, err)
	}
	if who.User != session.User.ID {
		t.Fatalf("the session of %s belongs to %s", session.User.ID, who.User)
	}
	return who
}
