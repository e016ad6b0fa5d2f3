package fanout_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A worker that dies between the two steps of a purge may have left the home to be built.
func TestPurge_EndsWhatAnEarlierTryBegan(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		_, stop := e.Work(fanout.Options{})
		people := e.Register("reader", "stays", "goes")
		reader, stays, goes := people[0], people[1], people[2]
		e.Follow(reader, stays)
		for range 10 {
			e.Post(stays, "x")
		}
		e.Drain()
		stop()

		client := enginetest.Client(t, url)
		home := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
		if err := client.LSet(t.Context(), home, -1, "b").Err(); err != nil {
			t.Fatal(err)
		}
		if err := e.Tasks.Purge(t.Context(), retwis.Home(reader), goes); err != nil {
			t.Fatal(err)
		}
		if last := client.LIndex(t.Context(), home, -1).Val(); last != "0" {
			t.Errorf("the home ends with %s after the purge, want 0", last)
		}
	})
}

// A home may hold posts that were trimmed from their author's profile.
func TestPurge_RemovesPostsThatLeftTheProfile(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 100, ProfileCap: 10, Slack: 2})
		e.Work(fanout.Options{})
		people := e.Register("reader", "stays", "goes")
		reader, stays, goes := people[0], people[1], people[2]
		e.Follow(reader, stays)
		e.Follow(reader, goes)
		e.Drain()
		for range 30 {
			e.Post(goes, "x")
		}
		kept := e.Post(stays, "x")
		e.Drain()
		if got := e.Read(retwis.Home(reader)); len(got) != 31 {
			t.Fatalf("home holds %d posts, want 31", len(got))
		}
		e.Unfollow(reader, goes)
		e.Drain()
		if got := e.Read(retwis.Home(reader)); !slices.Equal(got, []retwis.PostID{kept}) {
			t.Errorf("home: %v, want %v", got, []retwis.PostID{kept})
		}
	})
}

func TestUnfollow_RemovesPostsCreatedConcurrently(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		r := redistest.Rand(t)
		var readers []retwis.UserID
		for round := range redistest.Size(60, 500) {
			people := e.Crowd(fmt.Sprintf("r%d_", round), 2)
			author, reader := people[0], people[1]
			e.Follow(reader, author)
			var wg sync.WaitGroup
			wg.Go(func() {
				for range 5 {
					if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: e.Key()}); err != nil {
						t.Error(err)
					}
				}
			})
			pause := time.Duration(r.IntN(3000)) * time.Microsecond
			wg.Go(func() {
				time.Sleep(pause)
				if err := e.Follows.Unfollow(t.Context(), reader, author); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			readers = append(readers, reader)
		}
		e.Drain()
		for round, reader := range readers {
			if left := e.Read(retwis.Home(reader)); len(left) > 0 {
				t.Errorf("round %d: %d posts remain", round, len(left))
			}
		}
	})
}
