package fanout_test

import (
	"testing"

	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Posts that have left a profile since are not skipped in silence.
func TestReplayOfAProfileThatWasTrimmed(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), ProfileCap: 10, Slack: 2})
	author := e.register("author")[0]
	profile := retwis.Profile(author)
	since := func(at retwis.TimelinePosition) pubsub.Replay {
		t.Helper()
		replay, err := e.Live.Since(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return replay
	}
	begin, err := e.Live.Now(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		e.post(author, "x")
	}
	replay := since(begin)
	if !replay.Found || len(replay.Arrived) != 5 {
		t.Fatalf("of 5 posts %d are told, found %v", len(replay.Arrived), replay.Found)
	}
	for range 8 {
		e.post(author, "x")
	}
	if again := since(begin); again.Found {
		t.Errorf("of 13 posts %d are told, and nothing of the others", len(again.Arrived))
	}
	if later := since(replay.Position); !later.Found || len(later.Arrived) != 8 {
		t.Errorf("of 8 posts %d are told, found %v", len(later.Arrived), later.Found)
	}
}
