package rdb

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// stopped returns silences with a clock that a test moves.
func stopped() (s *silences, at func(time.Duration)) {
	now := time.Unix(0, 0)
	s = newSilences(time.Second)
	s.now = func() time.Time { return now }
	return s, func(after time.Duration) { now = time.Unix(0, 0).Add(after) }
}

func TestSilences_LastUntilAReplicaConfirms(t *testing.T) {
	t.Parallel()
	s, at := stopped()
	for _, step := range []struct {
		master    string
		confirmed bool
		after     time.Duration
		want      time.Duration
	}{
		{"a", false, 0, 0},
		{"a", false, 10 * time.Second, 10 * time.Second},
		{"b", false, 10 * time.Second, 0},
		{"a", true, 12 * time.Second, 0},
		{"a", false, 13 * time.Second, 0},
		{"b", false, 20 * time.Second, 10 * time.Second},
	} {
		at(step.after)
		if got := s.record(step.master, step.confirmed); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
}

// A single wait that nobody repeats says nothing about the time until the next one, for example of a rebuild.
func TestSilences_BeginAgainAfterAGap(t *testing.T) {
	t.Parallel()
	s, at := stopped()
	s.record("a", false)
	at(time.Hour)
	if got := s.record("a", false); got != 0 {
		t.Errorf("silence after an hour without a wait: %s, want 0", got)
	}
	at(time.Hour + 10*time.Second)
	if got := s.record("a", false); got != 10*time.Second {
		t.Errorf("silence after another wait: %s, want 10s", got)
	}
}

// The limits of all waits count from the same time, so entries that were delivered without a replica stay in the outbox.
func TestConfirmed_AcceptsRecordsBeforeTrims(t *testing.T) {
	t.Parallel()
	s, at := stopped()
	node := redis.NewClient(&redis.Options{Addr: "a master"})
	t.Cleanup(func() { _ = node.Close() })
	master := Master{db: &DB{silences: s}, node: node}
	waited := redis.NewCmd(t.Context())
	waited.SetVal(int64(0))
	for after := time.Duration(0); after < 3*ReplicaTimeout; after += 10 * time.Second {
		at(after)
		for limit, accepts := range map[time.Duration]bool{ReplicaTimeout: after > ReplicaTimeout, TrimTimeout: after > 2*ReplicaTimeout} {
			if err := master.Confirmed(waited, limit); accepts != (err == nil) || !accepts && !errors.Is(err, retwis.ErrNotReplicated) {
				t.Errorf("wait with limit %s after %s of silence: %v, want accepted: %t", limit, after, err, accepts)
			}
		}
	}
	waited.SetVal(int64(1))
	if err := master.Confirmed(waited, 0); err != nil {
		t.Errorf("confirmed wait: %v", err)
	}
}
