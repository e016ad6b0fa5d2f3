package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// The reader unfollows the author of the last post of a page, then reads the next page.
func TestPage_ContinuesAfterAnUnfollow(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 20, Slack: 5})
		e.Work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.Crowd("user", 3)
		reader, stays, goes := people[0], people[1], people[2]
		e.Follow(reader, stays)
		e.Follow(reader, goes)
		var kept []retwis.PostID
		for range 30 {
			kept = append(kept, e.Post(stays, "x"))
			e.Drain() // so that posts arrive in the order of creation
			e.Post(goes, "x")
			e.Drain()
		}
		id := retwis.Home(reader)
		before, cursors := e.Walk(r, id, true, "")
		e.Unfollow(reader, goes)
		e.Drain()
		for _, place := range []int{4, 8, 30} { // within the list, and below it
			want := slices.DeleteFunc(slices.Clone(before[place+1:]), func(post retwis.PostID) bool { return !slices.Contains(kept, post) })
			page, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 60, After: cursors[place]})
			if err != nil {
				t.Fatal(err)
			}
			var got []retwis.PostID
			for _, edge := range page.Edges {
				got = append(got, edge.Post.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after post %d: missing %v, extra or duplicate %v", place, enginetest.Surplus(want, got), enginetest.Surplus(got, want))
			}
		}
	})
}

// The ids of posts of one millisecond do not reflect their order of creation. Even the post
// with the greatest id may be the oldest and be trimmed from a list.
func TestPage_IncludesPostsOfTheSameMillisecond(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), HomeCap: 5, Slack: 1})
	people := e.Crowd("user", 20)
	reader, low, high := people[0], people[1], people[1]
	for _, id := range people[1:] {
		if id.PostBucket() < low.PostBucket() {
			low = id
		}
		if id.PostBucket() > high.PostBucket() {
			high = id
		}
	}
	e.Follow(reader, low)
	e.Follow(reader, high)
	e.Work(fanout.Options{})
	e.Drain()

	client := enginetest.Client(t, e.URL)
	ahead := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	for _, author := range []retwis.UserID{low, high} {
		tag, _, _ := strings.Cut(enginetest.Keys(t, client, "*:user:"+author.String())[0], ":")
		if err := client.Set(t.Context(), tag+":clock", ahead.UnixMicro(), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	made := []retwis.PostID{e.Post(high, "x")}
	e.Drain()
	for range 10 {
		made = append(made, e.Post(low, "x"))
	}
	e.Drain()
	if slices.Max(made) != made[0] || made[0]/1_000_000 != made[10]/1_000_000 {
		t.Fatalf("the first post has not the greatest id of its millisecond: %v", made)
	}
	if got := e.Read(retwis.Home(reader)); !slices.Equal(enginetest.Newest(got), enginetest.Newest(made)) {
		t.Errorf("pages: missing %v, extra or duplicate %v", enginetest.Surplus(made, got), enginetest.Surplus(got, made))
	}
}
