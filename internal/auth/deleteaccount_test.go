package auth

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

func TestDeleteAccount_EndsSessions(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, hashes := testAccounts(t, store, cheap())
	session := mustRegister(t, a, "ada", password)
	other, err := a.Login(t.Context(), "ada", password, agent)
	if err != nil {
		t.Fatal(err)
	}
	who := mustIdentify(t, a, session)
	hashes()

	for _, wrong := range []string{"", "correct hors", strings.Repeat("x", 257), "\xff"} {
		err := a.DeleteAccount(t.Context(), who, wrong)
		found, ok := retwis.UserErrors(err)
		if !ok || len(found) != 1 || found[0].Code != retwis.CodeWrongCredentials || !slices.Equal(found[0].Field, []string{"input", "password"}) {
			t.Errorf("with the password %q it gives %v", wrong, err)
		}
	}
	mustIdentify(t, a, session)
	if err := a.DeleteAccount(t.Context(), Identity{}, password); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("deleting anonymously gives %v", err)
	}

	if err := a.DeleteAccount(t.Context(), who, password); err != nil {
		t.Fatal(err)
	}
	for _, session := range []Session{session, other} {
		if _, err := a.Authenticate(t.Context(), session.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
			t.Errorf("a session of a deleted account gives %v", err)
		}
	}
	if _, err := a.Login(t.Context(), "ada", password, agent); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("logging in to a deleted account gives %v", err)
	}
	if err := a.DeleteAccount(t.Context(), who, password); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("deleting it again gives %v", err)
	}
}

func TestDeleteAccount_RetriesWhenTheHashIsRenewed(t *testing.T) {
	t.Parallel()
	store := newMemory()
	old, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, old, mustRegister(t, old, "ada", password))
	a, _ := testAccounts(t, store, costlier())
	store.beforeDeleteAccount = func() {
		if _, err := a.Login(t.Context(), "ada", password, agent); err != nil {
			t.Error(err)
		}
	}
	if err := a.DeleteAccount(t.Context(), who, password); err != nil {
		t.Errorf("it gives %v", err)
	}
}

func TestDeleteAccount_RefusesAfterAPasswordChange(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, a, mustRegister(t, a, "ada", password))
	store.beforeDeleteAccount = func() {
		if _, err := a.ChangePassword(t.Context(), who, password, "battery staple", agent); err != nil {
			t.Error(err)
		}
	}
	if err := a.DeleteAccount(t.Context(), who, password); !errors.Is(err, retwis.ErrWrongCredentials) {
		t.Errorf("it gives %v", err)
	}
	if _, err := a.Login(t.Context(), "ada", "battery staple", agent); err != nil {
		t.Errorf("the account is gone: %v", err)
	}
}
