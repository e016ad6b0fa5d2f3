package store_test

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

func TestPostIDs_IncreaseWhenTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2})
		people := e.Crowd("user", 8)
		for i := 0; !slices.ContainsFunc(people, func(id retwis.UserID) bool {
			return e.Outbox.PartitionOfUser(id) != e.Outbox.PartitionOfUser(people[0])
		}); i++ {
			people = append(people, e.Register(fmt.Sprint("other", i))...) // until both partitions have users
		}
		each := func() map[retwis.UserID][]retwis.PostID {
			const goroutines = 64
			var mu sync.Mutex
			made := map[retwis.UserID][]retwis.PostID{}
			var wg sync.WaitGroup
			for g := range goroutines {
				author := people[g%len(people)]
				wg.Go(func() {
					var last retwis.PostID
					for range 20 {
						edge, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: e.Key()})
						if err != nil {
							t.Error(err)
							return
						}
						if edge.Post.ID <= last {
							t.Errorf("post id %s after %s, want a greater one", edge.Post.ID, last)
						}
						last = edge.Post.ID
						mu.Lock()
						made[author] = append(made[author], last)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return made
		}
		before := each()
		ahead := time.Now().Add(time.Hour)
		client := enginetest.Client(t, url)
		clocks := enginetest.Keys(t, client, "*:clock")
		if len(clocks) != 2 {
			t.Fatalf("clocks: %v", clocks)
		}
		for _, clock := range clocks {
			if err := client.Set(t.Context(), clock, ahead.UnixMicro(), 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		after := each()
		seen := map[retwis.PostID]bool{}
		for author := range before {
			for _, id := range append(before[author], after[author]...) {
				if seen[id] {
					t.Errorf("post id %s was assigned twice", id)
				}
				seen[id] = true
			}
			if slices.Min(after[author]) <= slices.Max(before[author]) {
				t.Errorf("post ids of %s decreased", author)
			}
		}
		e.Work(fanout.Options{})
		reader := e.Register("reader")[0]
		e.Follow(reader, people[0])
		e.Drain()
		if got, want := e.Read(retwis.Home(reader)), enginetest.Newest(append(before[people[0]], after[people[0]]...)); !slices.Equal(got, want) {
			t.Errorf("home: %d posts, want %d", len(got), len(want))
		}
	})
}
