package store_test

import (
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A node whose presence the database lost has missed messages, and must learn for which timelines.
func TestSetOnline_ReturnsTimelinesWithoutPresence(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		user := e.Register("user")[0]
		home, profile := retwis.Home(user), retwis.Profile(user)
		both := []retwis.TimelineID{home, profile}
		absent := func(want ...retwis.TimelineID) {
			t.Helper()
			got, err := e.Live.SetOnline(t.Context(), "1", both, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("timelines without presence: %v, want %v", got, want)
			}
		}
		absent(home, profile)
		absent()
		if err := e.Live.SetOffline(t.Context(), "1", []retwis.TimelineID{profile}); err != nil {
			t.Fatal(err)
		}
		absent(profile)
		client := enginetest.Client(t, url)
		for _, key := range enginetest.Keys(t, client, "*:online*") {
			if err := client.Del(t.Context(), key).Err(); err != nil {
				t.Fatal(err)
			}
		}
		absent(home, profile)
	})
}
