package store

import (
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func open(t *testing.T, options Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// eventually waits until the condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not become true within a minute")
		}
	}
}

// register registers users with the given names and returns their ids.
func register(t *testing.T, s *Store, names ...string) []retwis.UserID {
	t.Helper()
	ids := make([]retwis.UserID, len(names))
	for i, name := range names {
		user, err := s.Accounts.Register(t.Context(), retwis.Registration{Username: name, PasswordHash: "x"})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = user.ID
	}
	return ids
}
