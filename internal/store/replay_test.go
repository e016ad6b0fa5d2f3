package store_test

import (
	"fmt"
	"testing"

	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// A replay must not silently skip posts that were trimmed from the profile.
func TestSince_TrimmedProfileIsUnrecoverable(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), ProfileCap: 10, Slack: 2})
	author := storetest.Register(t, s, "author")[0]
	profile := retwis.Profile(author)
	created := 0
	create := func(posts int) {
		t.Helper()
		for range posts {
			created++
			post := retwis.NewPost{Author: author, Text: "x", IdempotencyKey: fmt.Sprint("key", created)}
			if _, err := s.Posts.CreatePost(t.Context(), post); err != nil {
				t.Fatal(err)
			}
		}
	}
	since := func(at retwis.TimelinePosition) pubsub.Replay {
		t.Helper()
		replay, err := s.Live.EventsSince(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return replay
	}
	begin, err := s.Live.CurrentPosition(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	create(5)
	replay := since(begin)
	if !replay.Found || len(replay.Arrived) != 5 {
		t.Fatalf("replay of 5 posts: %d posts, found %v", len(replay.Arrived), replay.Found)
	}
	create(8)
	if again := since(begin); again.Found {
		t.Errorf("replay of 13 posts: %d posts, want an unrecoverable position", len(again.Arrived))
	}
	if later := since(replay.Position); !later.Found || len(later.Arrived) != 8 {
		t.Errorf("replay of 8 posts: %d posts, found %v", len(later.Arrived), later.Found)
	}
}
