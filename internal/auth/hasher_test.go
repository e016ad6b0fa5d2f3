package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

func TestHasher_MatchesPasswords(t *testing.T) {
	t.Parallel()
	h := newHasher(cheap(), 2, 2, nil)
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
	if !newHasher(costlier(), 1, 1, nil).outdated(stored) {
		t.Errorf("%s is not outdated with other parameters", stored)
	}
}

// Two hashes run, one waits, and the fourth is refused.
func TestHasher_BoundsConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheap(), 2, 1, nil)
		atOnce, most := 0, 0
		release := make(chan struct{})
		track := make(chan int)
		go func() {
			for step := range track {
				atOnce += step
				most = max(most, atOnce)
			}
		}()
		h.derive = func([]byte, []byte, HashParameters) []byte {
			track <- 1
			<-release
			track <- -1
			return make([]byte, keyLength)
		}
		results := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := h.hash(t.Context(), "password")
				results <- err
			}()
		}
		synctest.Wait()

		var busy *retwis.Error
		if _, err := h.hash(t.Context(), "password"); !errors.As(err, &busy) || busy.Code != retwis.CodeRateLimited || busy.RetryAfterSeconds < 1 {
			t.Errorf("the fourth hash fails with %v", err)
		}

		close(release)
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		close(track)
		synctest.Wait()
		if most != 2 || len(h.present) != 0 || len(h.running) != 0 {
			t.Errorf("%d were computed at once; %d are present and %d running in the end", most, len(h.present), len(h.running))
		}
	})
}

func TestHasher_TakesTurns(t *testing.T) {
	t.Parallel()
	var turns, ended int
	var refused error
	h := newHasher(cheap(), 1, 1, func(context.Context) (func(), error) {
		turns++
		return func() { ended++ }, refused
	})
	if _, err := h.hash(t.Context(), "password"); err != nil || turns != 1 || ended != 1 {
		t.Errorf("%v after %d turns, of which %d ended", err, turns, ended)
	}
	refused = context.Canceled
	if _, err := h.hash(t.Context(), "password"); !errors.Is(err, refused) || ended != 1 || len(h.running) != 0 {
		t.Errorf("without a turn: %v; %d ended, %d run", err, ended, len(h.running))
	}
}

func TestHasher_StopsWaitingWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheap(), 1, 1, nil)
		release := make(chan struct{})
		h.derive = func([]byte, []byte, HashParameters) []byte {
			<-release
			return make([]byte, keyLength)
		}
		first := make(chan error, 1)
		go func() {
			_, err := h.hash(t.Context(), "password")
			first <- err
		}()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.matches(ctx, "password", storedHash().String()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting beyond the deadline gives %v", err)
		}
		if len(h.present) != 1 {
			t.Errorf("%d are present after one gave up", len(h.present))
		}
		close(release)
		if err := <-first; err != nil {
			t.Error(err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := h.hash(ended, "password"); !errors.Is(err, context.Canceled) {
			t.Errorf("hashing with a done context fails with %v", err)
		}
	})
}

func BenchmarkHash(b *testing.B) {
	h := newHasher(HashParameters{MemoryKiB: 19456, Passes: 2, Lanes: 1}, 1, 1, nil)
	for b.Loop() {
		if _, err := h.hash(b.Context(), "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
}
