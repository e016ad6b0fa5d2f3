package fanout_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
	"retwis/internal/store/storetest"
)

func (e *engine) likeCount(post retwis.PostID) int {
	e.T.Helper()
	counts, err := e.Likes.LikeCounts(e.T.Context(), []retwis.PostID{post})
	if err != nil {
		e.T.Fatal(err)
	}
	return counts[0]
}

func (e *engine) wantLikers(post retwis.PostID, want ...retwis.UserID) {
	e.T.Helper()
	if got := e.Likers(post); !slices.Equal(got, want) {
		e.T.Errorf("likers of post %s: %v, want %v", post, got, want)
	}
	if got := e.likeCount(post); got != len(want) {
		e.T.Errorf("post %s has %d likes, want %d", post, got, len(want))
	}
	for _, user := range want {
		if liked, err := e.Likes.Liked(e.T.Context(), user, []retwis.PostID{1_000_000, post}); err != nil || liked[0] || !liked[1] {
			e.T.Errorf("Liked(%s) = %v, %v", user, liked, err)
		}
	}
}

// wantNoLikes fails the test unless nothing is stored about the likes of a post.
func (e *engine) wantNoLikes(post retwis.PostID) {
	e.T.Helper()
	client := enginetest.Client(e.T, e.URL)
	left := enginetest.Keys(e.T, client, "*:like*:"+post.String())
	for _, key := range enginetest.Keys(e.T, client, "*:likes:*") {
		if err := client.ZScore(e.T.Context(), key, post.String()).Err(); !errors.Is(err, redis.Nil) {
			left = append(left, key)
		}
	}
	if len(left) > 0 {
		e.T.Errorf("keys about the likes of post %s: %v", post, left)
	}
}

// likeUncounted writes a like, as if the process died before it stored the number of likes.
func (e *engine) likeUncounted(user retwis.UserID, post retwis.PostID) {
	e.T.Helper()
	p := e.DB().OfUser(user)
	err := e.DB().Do(e.T.Context(), rdb.Call{
		Script: script.Like,
		Keys:   []string{p.User(user).Account(), p.User(user).Likes(), p.Likers(post), p.Clock(), p.ChangedLikes()},
		Args:   []any{user.String(), post.String(), 1},
	}).Err()
	if err != nil {
		e.T.Fatal(err)
	}
}

func TestLikes_CountOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(4)
		post, other := e.Post(people[0], "one"), e.Post(people[0], "another")
		for _, user := range []retwis.UserID{people[1], people[0], people[1], people[2], people[2], people[3]} {
			e.Like(user, post)
		}
		e.Like(people[2], other)
		e.Unlike(people[2], post)
		e.Unlike(people[2], post)
		e.Unlike(people[3], other)
		e.Drain()
		e.wantLikers(post, people[3], people[0], people[1])
		e.wantLikers(other, people[2])
		if got := e.Liked(people[2]); !slices.Equal(got, []retwis.PostID{other}) {
			t.Errorf("likes: %v, want post %s", got, other)
		}

		// A post that does not exist is refused before anything is written.
		never := retwis.PostID(1_500_000_000_000_000_000) + post%1_000_000
		for _, change := range []func() error{
			func() error { return e.Likes.Like(t.Context(), people[1], never) },
			func() error { return e.Likes.Unlike(t.Context(), people[1], never) },
			func() error { return e.Likes.Like(t.Context(), people[1], retwis.PostID(1_999_000)) }, // no bucket
		} {
			if err := change(); !errors.Is(err, retwis.ErrPostNotFound) {
				t.Errorf("a change of the like of a post that does not exist: %v", err)
			}
		}
		e.wantNoLikes(never)
		if err := e.Likes.Like(t.Context(), retwis.UserID(3*retwis.Buckets), post); !errors.Is(err, retwis.ErrUnauthenticated) {
			t.Errorf("a like of nobody: %v", err)
		}
		e.Drain()
		e.IsSound()
	})
}

func TestLikes_AreCountedOnceInAPeriod(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1, LikePeriod: time.Hour})
	people := e.Register("author", "one", "two", "three")
	post := e.Post(people[0], "popular")
	counted := func(what string, want int) {
		t.Helper()
		if got := e.likeCount(post); got != want {
			t.Errorf("after %s: %d likes, want %d", what, got, want)
		}
	}
	e.Like(people[1], post)
	counted("the first like", 1) // the mutation stores it
	e.Like(people[2], post)
	e.Like(people[3], post)
	e.CountLikes()
	counted("two more likes", 1)
	client, key := enginetest.Client(t, e.URL), e.DB().Partition(0).ChangedLikes()
	endPeriod := func() {
		t.Helper()
		if err := client.ZAddXX(t.Context(), key, redis.Z{Score: 1, Member: post.String()}).Err(); err != nil {
			t.Fatal(err)
		}
		e.CountLikes()
	}
	endPeriod()
	counted("the period", 3)
	e.Unlike(people[2], post)
	counted("an unlike in the next period", 3)
	endPeriod()
	counted("that period", 2)
	endPeriod()
	if n, err := e.Likes.ChangedLikes(t.Context()); n != 0 || err != nil {
		t.Errorf("%d posts are changed after a period without likes, %v", n, err)
	}
	e.Like(people[2], post)
	counted("a like after a quiet period", 3)
}

// A clock that is set back leaves posts that are due in the far future.
func TestLikes_AreCountedAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1, LikePeriod: time.Hour})
	people := e.Register("author", "one", "two")
	post := e.Post(people[0], "popular")
	e.Like(people[1], post)
	e.Like(people[2], post) // the worker has to count it
	client, key := enginetest.Client(t, e.URL), e.DB().Partition(0).ChangedLikes()
	if err := client.ZIncrBy(t.Context(), key, float64(time.Hour.Milliseconds()), post.String()).Err(); err != nil {
		t.Fatal(err)
	}
	e.CountLikes()
	if got := e.likeCount(post); got != 2 {
		t.Errorf("%d likes are counted, want 2", got)
	}
}

// A process may die after it wrote a like, and a worker at any time.
func TestLikes_AreCountedAfterACrash(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.Apart(3)
		post := e.Post(people[0], "one")
		for _, user := range people[1:] {
			if _, err := e.Likes.AddLikePartition(t.Context(), post, e.DB().OfUser(user)); err != nil {
				t.Fatal(err)
			}
			e.likeUncounted(user, post)
			e.likeUncounted(user, post) // the driver sends a command again
		}
		if got := e.likeCount(post); got != 0 {
			t.Fatalf("%d likes are counted before the worker runs", got)
		}
		e.Work(fanout.Options{})
		e.Drain()
		e.wantLikers(post, people[2], people[1])
		e.IsSound()
	})
}

func TestLikes_OfADeletedPostAreRemoved(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2})
		e.Work(fanout.Options{})
		people := e.Crowd("fan", redistest.Size(30, 3000)) // at full size more than one round removes
		author := people[0]
		post, stays := e.Post(author, "one"), e.Post(author, "another")
		for _, user := range people[1:] {
			e.Like(user, post)
		}
		e.Like(people[1], stays)
		e.Drain()
		if got := e.likeCount(post); got != len(people)-1 {
			t.Fatalf("%d likes, want %d", got, len(people)-1)
		}
		if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
			t.Fatal(err)
		}
		if got := e.Liked(people[1]); !slices.Equal(got, []retwis.PostID{stays}) {
			t.Errorf("a deleted post is among the liked ones at once: %v", got)
		}
		if err := e.Likes.Like(t.Context(), author, post); !errors.Is(err, retwis.ErrPostNotFound) {
			t.Errorf("a like of a deleted post: %v", err)
		}
		e.Drain()
		e.wantNoLikes(post)
		e.wantLikers(stays, people[1])

		// This like was on its way when the post was deleted.
		e.likeUncounted(people[2], post)
		e.likeUncounted(people[3], post)
		e.Drain()
		e.wantNoLikes(post)
		e.IsSound()
	})
}

func TestLikes_OfADeletedAccountAreRemoved(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2, DeletedAccountTTL: enginetest.ShortAccountTTL})
		e.Work(fanout.Options{})
		people := e.Register("leaves", "stays", "author")
		leaves, stays, author := people[0], people[1], people[2]
		own := e.Post(leaves, "of the user who leaves")
		e.Like(stays, own)
		var posts []retwis.PostID
		for range redistest.Size(30, 450) { // at full size more than one call removes
			posts = append(posts, e.Post(author, "one"))
			e.Like(leaves, posts[len(posts)-1])
		}
		e.Like(stays, posts[0])
		e.DeleteAccount(leaves)
		e.Drain()
		e.wantLikers(posts[0], stays)
		counts, err := e.Likes.LikeCounts(t.Context(), posts)
		if want := append([]int{1}, make([]int, len(posts)-1)...); err != nil || !slices.Equal(counts, want) {
			t.Errorf("likes after the deletion of the account: %v, %v, want %v", counts, err, want)
		}
		e.wantNoLikes(own)
		e.NothingIsLeftOf(leaves)
		if got := e.Liked(stays); !slices.Equal(got, posts[:1]) {
			t.Errorf("liked by the other user: %v, want %v", got, posts[:1])
		}
		e.IsSound()
	})
}

func TestLikedPosts_AreCappedAndSkipDeletedOnes(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), LikedCap: 6})
	people := e.Apart(2)
	var posts []retwis.PostID
	for range 9 {
		posts = append(posts, e.Post(people[0], "one"))
		e.Like(people[1], posts[len(posts)-1])
	}
	slices.Reverse(posts)
	if got := e.Liked(people[1]); !slices.Equal(got, posts[:6]) {
		t.Errorf("liked: %v, want the newest six of %v", got, posts)
	}
	if liked, err := e.Likes.Liked(t.Context(), people[1], posts); err != nil || slices.Contains(liked, false) {
		t.Errorf("likes beyond the cap: %v, %v", liked, err)
	}
	for _, i := range []int{0, 2, 3} {
		if err := e.Posts.DeletePost(t.Context(), people[0], posts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := e.Liked(people[1]), []retwis.PostID{posts[1], posts[4], posts[5]}; !slices.Equal(got, want) {
		t.Errorf("liked: %v, want %v", got, want)
	}
	page, err := e.Likes.LikedPage(t.Context(), people[1], retwis.Page{First: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Likes.LikedPage(t.Context(), people[0], retwis.Page{First: 1, After: page.Posts[0].Cursor}); !errors.Is(err, retwis.ErrBadCursor) {
		t.Errorf("a cursor of another user: %v", err)
	}
	if _, err := e.Likes.LikerPage(t.Context(), posts[1], retwis.Page{First: 1, After: page.Posts[0].Cursor}); !errors.Is(err, retwis.ErrBadCursor) {
		t.Errorf("a cursor of another connection: %v", err)
	}
}

// The likes and reposts of the reader come with the page of a home, in the same exchange, also after the posts are cached.
func TestPage_ReturnsWhatConnectsTheReader(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(3)
		reader, author, other := people[0], people[1], people[2]
		e.Follow(reader, author)
		var posts []retwis.PostID
		for range 5 {
			posts = append(posts, e.Post(author, "for @"+"apart0"))
		}
		e.Drain()
		e.Like(reader, posts[1])
		e.Like(other, posts[2])
		for _, by := range []retwis.UserID{reader, other} {
			storetest.Repost(t, e.Store, by, posts[map[retwis.UserID]int{reader: 3, other: 4}[by]])
		}
		want := map[retwis.PostID]retwis.Relation{}
		for i, post := range posts {
			want[post] = retwis.Relation{Liked: i == 1, Reposted: i == 3}
		}
		for range 2 { // the second page comes from the cache
			for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.Public()} {
				for _, page := range []retwis.Page{{First: 10, Viewer: reader}, {Last: 10, Viewer: reader}, {First: 10}} {
					got, err := e.Timelines.Page(t.Context(), id, page)
					if err != nil || len(got.Edges) != len(posts) {
						t.Fatalf("page %+v of %s: %d posts, %v", page, id, len(got.Edges), err)
					}
					if id == retwis.Public() || page.Viewer == 0 {
						if len(got.Related) > 0 {
							t.Errorf("page %+v of %s has likes and reposts: %v", page, id, got.Related)
						}
						continue
					}
					if !maps.Equal(got.Related, want) {
						t.Errorf("page %+v of %s: %v, want %v", page, id, got.Related, want)
					}
				}
			}
		}
	})
}
