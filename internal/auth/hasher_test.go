package auth

import (
	"context"
	"errors"
	"testing"
)

func TestHasher_MatchesPasswords(t *testing.T) {
	t.Parallel()
	h := newHasher(cheap(), nil)
	stored, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := h.matches(t.Context(), "correct horse", stored); err != nil || !ok {
		t.Errorf("the right password gives %t, %v", ok, err)
	}
	if ok, err := h.matches(t.Context(), "correct horsf", stored); err != nil || ok {
		t.Errorf("a wrong password gives %t, %v", ok, err)
	}
	if h.outdated(stored) {
		t.Errorf("%s is outdated at once", stored)
	}
	if !newHasher(costlier(), nil).outdated(stored) {
		t.Errorf("%s is not outdated with other parameters", stored)
	}
}

func TestHasher_TakesTurns(t *testing.T) {
	t.Parallel()
	var turns, ended int
	var refused error
	h := newHasher(cheap(), func(context.Context) (func(), error) {
		turns++
		return func() { ended++ }, refused
	})
	if _, err := h.hash(t.Context(), "password"); err != nil || turns != 1 || ended != 1 {
		t.Errorf("%v after %d turns, of which %d ended", err, turns, ended)
	}
	refused = context.Canceled
	if _, err := h.hash(t.Context(), "password"); !errors.Is(err, refused) || ended != 1 {
		t.Errorf("without a turn: %v; %d ended", err, ended)
	}
}

func BenchmarkHash(b *testing.B) {
	h := newHasher(HashParameters{MemoryKiB: 19456, Passes: 2, Lanes: 1}, nil)
	for b.Loop() {
		if _, err := h.hash(b.Context(), "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
}
