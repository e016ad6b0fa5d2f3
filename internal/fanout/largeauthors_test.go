package fanout_test

import (
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: users who follow and unfollow an author at the push threshold, whose posts are merged into the home of each follower when
// the author falls to it.
func TestLargeAuthors_FallBelowNineTenthsOfTheThreshold(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, PullAbove: 20})
		e.Work(fanout.Options{})
		author, followers := e.Register("author")[0], e.Crowd("follower", 21)
		client := enginetest.Client(t, url)
		var posts []retwis.PostID
		followedBy := func(n int, wait bool) {
			t.Helper()
			for i, reader := range followers {
				if i < n {
					e.Follow(reader, author)
				} else {
					e.Unfollow(reader, author)
				}
			}
			e.Drain()
			posts = append(posts, e.Post(author, "a post"))
			e.Drain()
			held := 0
			for _, key := range enginetest.Keys(t, client, "*:pulled:"+author.String()) {
				held += len(client.LRange(t.Context(), key, 0, -1).Val())
			}
			if (held > 0) != wait {
				t.Errorf("%d posts wait with %d followers, want some: %t", held, n, wait)
			}
		}
		followedBy(20, false)
		followedBy(21, true)
		followedBy(20, true)
		followedBy(19, true)
		followedBy(18, false)
		followedBy(20, false)
		for _, reader := range followers[:18] {
			if got, want := e.Read(retwis.Home(reader)), enginetest.Newest(posts); !slices.Equal(got, want) {
				t.Errorf("%s reads %v, want %v", reader, got, want)
			}
		}
		e.IsSound()
	})
}
