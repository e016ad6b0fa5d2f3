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
	"retwis/internal/store/rdb"
)

// A purge does not read other authors. A home that lost many posts is refilled by the next read.
func TestPurge_LeavesTheRestOfTheHome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unwanted, stored int
		building         bool
	}{{5, 5, false}, {6, 4, true}} {
		t.Run(fmt.Sprintf("%d of 10 posts removed", tt.unwanted), func(t *testing.T) {
			t.Parallel()
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
				e.Work(fanout.Options{})
				people := e.Register("reader", "stays", "goes")
				reader, stays, goes := people[0], people[1], people[2]
				e.Follow(reader, stays)
				e.Follow(reader, goes)
				e.Drain()
				var kept []retwis.PostID
				for range 20 {
					kept = append(kept, e.Post(stays, "x"))
				}
				e.Drain()
				for range tt.unwanted {
					e.Post(goes, "x")
				}
				e.Drain()
				slices.Reverse(kept)

				client := enginetest.Client(t, url)
				home := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
				if err := client.LTrim(t.Context(), home, 0, 9).Err(); err != nil { // as fan-out does at times
					t.Fatal(err)
				}
				e.Unfollow(reader, goes)
				e.Drain()
				stored := client.LRange(t.Context(), home, 0, -1).Val()
				building := stored[len(stored)-1] == rdb.ListBuilding
				if building {
					stored = stored[:len(stored)-1]
				}
				if len(stored) != tt.stored || building != tt.building {
					t.Errorf("the home has %d posts after the purge, being built: %t; want %d, %t", len(stored), building, tt.stored, tt.building)
				}
				if got := e.Read(retwis.Home(reader)); !slices.Equal(got, kept) {
					t.Errorf("home: %v, want %v", got, kept)
				}
			})
		})
	}
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
