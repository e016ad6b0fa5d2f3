// Package storetest opens databases for tests, and fills them.
package storetest

import (
	"fmt"
	"testing"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Open opens a database for the time of a test.
func Open(t testing.TB, options store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Register registers users with these names.
func Register(t testing.TB, s *store.Store, names ...string) []retwis.UserID {
	t.Helper()
	ids := make([]retwis.UserID, len(names))
	for i, name := range names {
		user, err := s.Accounts.Register(t.Context(), retwis.Registration{Username: name, DisplayName: name, PasswordHash: "x"})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = user.ID
	}
	return ids
}

// RegisterN registers n users whose names begin with a prefix.
func RegisterN(t testing.TB, s *store.Store, prefix string, n int) []retwis.UserID {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return Register(t, s, names...)
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition does not hold after a minute")
		}
	}
}
