package auth

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestRegister_CreatesAccountAndSession(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, hashes := testAccounts(t, store, cheap())
	name := "  Ada\u0301 "
	session, err := a.Register(t.Context(), "Ada", "correct horse", &name, agent)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := session.User.DisplayName, "Ad\u00e1"; got != want {
		t.Errorf("the display name is %q, want %q", got, want)
	}
	if n := hashes(); n != 1 {
		t.Errorf("registering took %d hashes", n)
	}
	mustIdentify(t, a, session)
	stored := store.accounts[session.User.ID].hash
	if got, err := parsePasswordHash(stored); err != nil || got.params != cheap() {
		t.Errorf("the hash is stored as %+v, %v", got, err)
	}

	plain := mustRegister(t, a, "grace", "correct horse")
	if plain.User.DisplayName != "grace" {
		t.Errorf("without a display name it is %q", plain.User.DisplayName)
	}
	if store.accounts[plain.User.ID].hash == stored {
		t.Error("two hashes of one password are equal")
	}

	if _, err := a.Register(t.Context(), "ADA", "correct horse", nil, agent); !errors.Is(err, retwis.ErrNameTaken) {
		t.Errorf("registering a taken name gives %v", err)
	}
}

func TestRegister_ReportsAllInvalidFields(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, hashes := testAccounts(t, store, cheap())
	blank, good := " ", "Ada"
	tests := []struct {
		name               string
		username, password string
		display            *string
		want               []string
	}{
		{"all", "a!a", "short", &blank, []string{"INVALID username", "TOO_SHORT password", "BLANK displayName"}},
		{"the name", "ab", "long enough", nil, []string{"TOO_SHORT username"}},
		{"a reserved name", "Admin", "long enough", &good, []string{"TAKEN username"}},
		{"the password", "ada", "", &good, []string{"BLANK password"}},
		{"a long password", "ada", strings.Repeat("x", 257), nil, []string{"TOO_LONG password"}},
		{"a common password", "ada", "Password123", nil, []string{"INVALID password"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.Register(t.Context(), tt.username, tt.password, tt.display, agent)
			found, _ := retwis.UserErrors(err)
			var got []string
			for _, e := range found {
				got = append(got, string(e.Code)+" "+e.Field[1])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the user errors differ (-want +got):\n%s", diff)
			}
		})
	}
	if n := hashes(); n != 0 || store.calls != 0 {
		t.Errorf("refused registrations took %d hashes and %d calls of the store", n, store.calls)
	}
}

func TestUpdateProfile_ChangesGivenFields(t *testing.T) {
	t.Parallel()
	store := newMemory()
	a, _ := testAccounts(t, store, cheap())
	who := mustIdentify(t, a, mustRegister(t, a, "ada", "correct horse"))

	name, bio := " Ada ", " first\r\nprogrammer "
	user, err := a.UpdateProfile(t.Context(), who, retwis.ProfileChange{DisplayName: &name, Bio: &bio})
	if err != nil || user.DisplayName != "Ada" || user.Bio != "first\nprogrammer" {
		t.Errorf("the profile becomes %+v, %v", user, err)
	}
	if name != " Ada " {
		t.Errorf("the caller's name became %q", name)
	}
	none := ""
	user, err = a.UpdateProfile(t.Context(), who, retwis.ProfileChange{Bio: &none})
	if err != nil || user.DisplayName != "Ada" || user.Bio != "" {
		t.Errorf("with the bio emptied the profile is %+v, %v", user, err)
	}

	wrong, long := "a\nb", strings.Repeat("x", 161)
	_, err = a.UpdateProfile(t.Context(), who, retwis.ProfileChange{DisplayName: &wrong, Bio: &long})
	found, ok := retwis.UserErrors(err)
	if !ok || len(found) != 2 || !slices.Equal(found[0].Field, []string{"input", "displayName"}) || found[1].Code != retwis.CodeTooLong {
		t.Errorf("a bad profile gives %v", err)
	}
	if _, err := a.UpdateProfile(t.Context(), Identity{}, retwis.ProfileChange{Bio: &bio}); !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("an anonymous change gives %v", err)
	}
}

func TestNewAccounts_RefusesExcessiveParameters(t *testing.T) {
	t.Parallel()
	if _, err := NewAccounts(newMemory(), newMemory(), Options{Hash: HashParameters{MemoryKiB: 1 << 30, Passes: 1, Lanes: 1}}); err == nil {
		t.Error("accepted a terabyte per hash")
	}
	a, err := NewAccounts(newMemory(), newMemory(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (HashParameters{MemoryKiB: 19456, Passes: 2, Lanes: 1}); a.hasher.params != want {
		t.Errorf("the default parameters are %+v", a.hasher.params)
	}
}
