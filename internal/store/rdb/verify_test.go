package rdb

import (
	"testing"
	"time"
)

func TestSilence_LastsUntilAReplicaConfirms(t *testing.T) {
	t.Parallel()
	var s silence
	start := time.Unix(0, 0)
	for _, step := range []struct {
		master    string
		confirmed bool
		after     time.Duration
		want      time.Duration
	}{
		{"a", false, 0, 0},
		{"a", false, time.Minute, time.Minute},
		{"b", false, time.Minute, 0},
		{"a", true, 2 * time.Minute, 0},
		{"a", false, 3 * time.Minute, 0},
		{"b", false, 3 * time.Minute, 2 * time.Minute},
	} {
		if got := s.record(step.master, step.confirmed, start.Add(step.after)); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
}
