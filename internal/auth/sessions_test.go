package auth

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

const password = "correct horse"

func TestLogin_AcceptsEquivalentSpellings(t *testing.T) {
	t.Parallel()
	a, _ := testAccounts(t, newMemory(), cheap())
	first := mustRegister(t, a, "Ada", "cafe\u0301\u00a0au lait")
	for _, tt := range []struct{ name, username, password string }{
		{"as registered", "Ada", "cafe\u0301\u00a0au lait"},
		{"in another case", "aDA", "cafe\u0301\u00a0au lait"},
		{"from a keyboard that composes", "ada", "caf\u00e9 au lait"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session, err := a.Login(t.Context(), tt.username, tt.password, agent)
			if err != nil {
				t.Fatal(err)
			}
			if session.User.ID != first.User.ID || session.Token == first.Token {
				t.Errorf("the session is %+v", session)
			}
			mustIdentify(t, a, session)
		})
	}
	mustIdentify(t, a, first)
}

func TestLogin_DoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, hashes := testAccounts(t, store, cheap())
	mustRegister(t, a, "ada", password)
	unfinished := mustRegister(t, a, "grace", password)
	store.accounts[unfinished.User.ID].pending = true
	hashes()

	tests := []struct {
		name, username, password string
		hashes                   int
	}{
		{"a wrong password", "ada", "incorrect horse", 1},
		{"a password in another case", "ada", strings.ToUpper(password), 1},
		{"an empty password", "ada", "", 1},
		{"an unknown name", "nobody_", password, 1},
		{"an unfinished registration", "grace", password, 1},
		{"an impossible username", "ada lovelace!", password, 1},
		{"a name as long as a request", strings.Repeat("a", 200_000), password, 1},
		{"an empty username", "", password, 1},
		{"a password too long, of a known name", "ada", strings.Repeat("x", 257), 0},
		{"a password too long, of an unknown name", "nobody_", strings.Repeat("x", 257), 0},
		{"broken UTF-8", "ada", "\xff\xff\xff\xff\xff\xff\xff\xff", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			session, err := a.Login(t.Context(), tt.username, tt.password, agent)
			if session != (Session{}) || !errors.Is(err, retwis.ErrWrongCredentials) {
				t.Fatalf("login gives %+v, %v", session, err)
			}
			found, ok := retwis.UserErrors(err)
			if !ok || len(found) != 1 || found[0] != retwis.ErrWrongCredentials {
				t.Errorf("the client receives %+v", found)
			}
			if n := hashes(); n != tt.hashes {
				t.Errorf("it took %d hashes, want %d", n, tt.hashes)
			}
		})
	}
	if n := len(store.sessions); n != 2 {
		t.Errorf("there are %d sessions, want the two of the registrations", n)
	}
}

func TestSessions_ReturnInternalErrorsInAnOutage(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	session := mustRegister(t, a, "ada", password)
	store.fail = errors.New("connection refused")
	if _, err := a.Login(t.Context(), "ada", password, agent); !errors.Is(err, store.fail) || errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("login gives %v", err)
	}
	if _, err := a.Authenticate(t.Context(), session.Token); !errors.Is(err, store.fail) || errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("authenticating gives %v", err)
	}
	who := Identity{User: session.User.ID}
	if err := a.Logout(t.Context(), who); !errors.Is(err, store.fail) {
		t.Errorf("logging out gives %v", err)
	}
	if err := a.LogoutEverywhere(t.Context(), who); !errors.Is(err, store.fail) {
		t.Errorf("logging out everywhere gives %v", err)
	}
	_, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent)
	if _, mendable := retwis.UserErrors(err); !errors.Is(err, store.fail) || mendable {
		t.Errorf("changing the password gives %v", err)
	}
	store.fail = nil
	excessive := storedHash()
	excessive.params.MemoryKiB = 4 << 20
	store.accounts[session.User.ID].hash = excessive.String()
	_, err = a.Login(t.Context(), "ada", password, agent)
	if _, ok := retwis.UserErrors(err); err == nil || ok {
		t.Errorf("login with an excessive stored hash gives %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "a key that") {
		t.Errorf("the error repeats the hash: %v", err)
	}
}

func TestLogin_UpdatesOutdatedHashes(t *testing.T) {
	t.Parallel()
	store := newMemory()
	old, _ := testAccounts(t, store, cheap())
	first := mustRegister(t, old, "ada", password)
	a, hashes := testAccounts(t, store, costlier())

	session, err := a.Login(t.Context(), "ada", password, agent)
	if err != nil {
		t.Fatal(err)
	}
	if n := hashes(); n != 2 {
		t.Errorf("the first login took %d hashes, want 2", n)
	}
	if got, err := parsePasswordHash(store.accounts[session.User.ID].hash); err != nil || got.params != costlier() {
		t.Errorf("the hash is stored as %+v, %v", got, err)
	}
	mustIdentify(t, a, first)
	mustIdentify(t, a, session)

	if _, err := a.Login(t.Context(), "ada", password, agent); err != nil {
		t.Fatal(err)
	}
	if n := hashes(); n != 1 {
		t.Errorf("the second login took %d hashes, want 1", n)
	}
}

func TestLogin_KeepsAConcurrentPasswordChange(t *testing.T) {
	t.Parallel()
	store := newMemory()
	old, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, old, mustRegister(t, old, "ada", password))
	a, _ := testAccounts(t, store, costlier())
	store.beforeSetPasswordHash = func() {
		if _, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.Login(t.Context(), "ada", password, agent); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("login with the old password gives %v", err)
	}
	if _, err := a.Login(t.Context(), "ada", "battery staple", agent); err != nil {
		t.Errorf("login with the changed password gives %v", err)
	}
}

func TestLogin_AllowsConcurrentRehash(t *testing.T) {
	t.Parallel()
	store := newMemory()
	old, _ := testAccounts(t, store, cheap())
	mustRegister(t, old, "ada", password)
	a, _ := testAccounts(t, store, costlier())
	store.beforeSetPasswordHash = func() {
		if _, err := a.Login(t.Context(), "ada", password, agent); err != nil {
			t.Error(err)
		}
	}
	session, err := a.Login(t.Context(), "ada", password, agent)
	if err != nil {
		t.Fatal(err)
	}
	mustIdentify(t, a, session)
}

func TestLogin_FailsIfThePasswordChangesMeanwhile(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, a, mustRegister(t, a, "ada", password))
	store.beforeCreateSession = func() {
		if _, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent); err != nil {
			t.Error(err)
		}
	}
	session, err := a.Login(t.Context(), "ada", password, agent)
	if session.Token != "" || !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("login while the password changes gives %+v, %v", session, err)
	}
}

func TestLogin_FailsIfTheAccountIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	gone := mustRegister(t, a, "ada", password)
	store.beforeCreateSession = func() { delete(store.accounts, gone.User.ID) }
	if _, err := a.Login(t.Context(), "ada", password, agent); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("login gives %v", err)
	}
	if _, err := a.Authenticate(t.Context(), gone.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("authenticating gives %v", err)
	}
}

func TestAuthenticate_RefusesMalformedTokensWithoutTheStore(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	for _, token := range []string{"", "x", strings.Repeat("A", 200_000)} {
		if who, err := a.Authenticate(t.Context(), token); !errors.Is(err, retwis.ErrUnauthenticated) || who != (Identity{}) {
			t.Errorf("a token of %d bytes gives %+v, %v", len(token), who, err)
		}
	}
	if store.calls != 0 {
		t.Errorf("the store was asked %d times", store.calls)
	}
	token, _ := NewToken(3)
	if who, err := a.Authenticate(t.Context(), token); !errors.Is(err, retwis.ErrUnauthenticated) || who != (Identity{}) {
		t.Errorf("a token without a session gives %+v, %v", who, err)
	}
}

func TestLogout_EndsSessions(t *testing.T) {
	t.Parallel()
	a, _ := testAccounts(t, newMemory(), cheap())
	session := mustRegister(t, a, "ada", password)
	other, err := a.Login(t.Context(), "ada", password, agent)
	if err != nil {
		t.Fatal(err)
	}
	who := mustIdentify(t, a, session)
	for range 2 { // repeating it succeeds
		if err := a.Logout(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Authenticate(t.Context(), session.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("after logging out the token gives %v", err)
	}
	mustIdentify(t, a, other)
	if err := a.LogoutEverywhere(t.Context(), mustIdentify(t, a, other)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate(t.Context(), other.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("after logging out everywhere the token gives %v", err)
	}
	if err := a.Logout(t.Context(), Identity{}); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("an anonymous logout gives %v", err)
	}
	if err := a.LogoutEverywhere(t.Context(), Identity{}); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("an anonymous logout everywhere gives %v", err)
	}
}

func TestChangePassword_ReplacesSessions(t *testing.T) {
	t.Parallel()
	a, _ := testAccounts(t, newMemory(), cheap())
	before := mustRegister(t, a, "ada", password)
	session, err := a.ChangePassword(t.Context(), mustIdentify(t, a, before), password, "battery staple", agent)
	if err != nil {
		t.Fatal(err)
	}
	mustIdentify(t, a, session)
	if session.User.Username != "ada" {
		t.Errorf("the session is that of %+v", session.User)
	}
	if _, err := a.Authenticate(t.Context(), before.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("the old token gives %v", err)
	}
	if _, err := a.Login(t.Context(), "ada", password, agent); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("the old password gives %v", err)
	}
	if _, err := a.Login(t.Context(), "ada", "battery staple", agent); err != nil {
		t.Errorf("the changed password gives %v", err)
	}
}

func TestChangePassword_RefusesInvalidInput(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, hashes := testAccounts(t, store, cheap())
	session := mustRegister(t, a, "ada", password)
	who := mustIdentify(t, a, session)
	hashes()
	tests := []struct {
		name, current, changed string
		want                   []string // code and field of each error
		hashes                 int
	}{
		{"a wrong current password", "incorrect horse", "battery staple", []string{"WRONG_CREDENTIALS currentPassword"}, 1},
		{"a current password too long", strings.Repeat("x", 257), "battery staple", []string{"WRONG_CREDENTIALS currentPassword"}, 0},
		{"a short password", password, "short", []string{"TOO_SHORT newPassword"}, 1},
		{"a long password", password, strings.Repeat("x", 257), []string{"TOO_LONG newPassword"}, 1},
		{"a common password", password, "Password123", []string{"INVALID newPassword"}, 1},
		{"both wrong", "incorrect horse", "short", []string{"WRONG_CREDENTIALS currentPassword", "TOO_SHORT newPassword"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.ChangePassword(t.Context(), who, tt.current, tt.changed, agent)
			found, _ := retwis.UserErrors(err)
			var got []string
			for _, e := range found {
				got = append(got, string(e.Code)+" "+e.Field[1])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("it gives %v, want %v", err, tt.want)
			}
			if n := hashes(); n != tt.hashes {
				t.Errorf("it took %d hashes, want %d", n, tt.hashes)
			}
		})
	}
	mustIdentify(t, a, session)
	for _, nobody := range []Identity{{}, {User: 999}} {
		if _, err := a.ChangePassword(t.Context(), nobody, password, "battery staple", agent); !errors.Is(err, retwis.ErrUnauthenticated) {
			t.Errorf("a change by user %s gives %v", nobody.User, err)
		}
	}
}

func TestChangePassword_RetriesWhenTheHashIsRenewed(t *testing.T) {
	t.Parallel()
	store := newMemory()
	old, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, old, mustRegister(t, old, "ada", password))
	a, _ := testAccounts(t, store, costlier())
	store.beforeChangePassword = func() {
		if _, err := a.Login(t.Context(), "ada", password, agent); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent); err != nil {
		t.Errorf("it gives %v", err)
	}
}

func TestChangePassword_AcceptsOneOfTwoConcurrentChanges(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, a, mustRegister(t, a, "ada", password))
	store.beforeChangePassword = func() {
		if _, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.ChangePassword(t.Context(), who, password, "paper clips", agent); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("the second change gives %v", err)
	}
	if _, err := a.Login(t.Context(), "ada", "battery staple", agent); err != nil {
		t.Errorf("the password of the first change gives %v", err)
	}
}
