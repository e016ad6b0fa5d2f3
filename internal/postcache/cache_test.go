package postcache

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

const roomy = 1 << 20

func change(n int64) retwis.ChangeID { return retwis.ChangeID{Millis: n} }

func post(id int) *retwis.Post { return &retwis.Post{ID: retwis.PostID(id), Text: "text"} }

func result(id int) []Result { return []Result{{retwis.PostID(id), post(id)}} }

// started returns a cache of two partitions that is at change 5 and has the given posts.
func started(most int, ids ...int) *Cache {
	c := New()
	c.Start([]retwis.ChangeID{change(5), change(5)}, most)
	add(c, ids...)
	return c
}

func add(c *Cache, ids ...int) {
	reading := c.BeginReading()
	for _, id := range ids {
		c.Add(reading, result(id))
	}
}

// has reports which of some posts the cache has.
func has(c *Cache, ids ...int) []bool {
	found := make([]bool, len(ids))
	for i, id := range ids {
		posts := make([]*retwis.Post, 1)
		found[i] = c.Find([]retwis.PostID{retwis.PostID(id)}, []bool{true}, posts) == nil && posts[0].ID == retwis.PostID(id)
	}
	return found
}

func wantCached(t *testing.T, c *Cache, ids []int, want ...bool) {
	t.Helper()
	if got := has(c, ids...); !slices.Equal(got, want) {
		t.Errorf("posts %v are cached: %v, want %v", ids, got, want)
	}
}

func wantPosition(t *testing.T, c *Cache, want int64) {
	t.Helper()
	if got, _ := c.Position(0); got != change(want) {
		t.Errorf("the position is %v, want %v", got, change(want))
	}
}

func TestFind_ReturnsCachedPostsThatItMayFind(t *testing.T) {
	t.Parallel()
	c := started(roomy, 1, 2)
	posts := make([]*retwis.Post, 3)
	missing := c.Find([]retwis.PostID{1, 2, 3}, []bool{true, false, true}, posts)
	if !slices.Equal(missing, []int{1, 2}) || posts[0] == nil || posts[1] != nil || posts[2] != nil {
		t.Errorf("got %v and missing posts %v", posts, missing)
	}
}

func TestCache_IsOffBeforeItStarts(t *testing.T) {
	t.Parallel()
	c := New()
	reading := c.BeginReading()
	c.Start([]retwis.ChangeID{change(5)}, roomy)
	c.Add(reading, result(1)) // read when changes were unknown
	wantCached(t, c, []int{1}, false)
}

func TestApply_DropsChangedPosts(t *testing.T) {
	t.Parallel()
	c := started(roomy, 1, 2)
	c.Apply(0, Changes{From: change(5), Last: change(6), Complete: true, Posts: []retwis.PostID{1}})
	wantCached(t, c, []int{1, 2}, false, true)
	wantPosition(t, c, 6)
}

func TestApply_DropsAllPosts(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]Changes{
		"changes may be missing":      {From: change(5), Last: change(3)},
		"a change concerns an author": {From: change(5), Last: change(6), Complete: true, Others: true},
	} {
		c := started(roomy, 1, 2)
		reading := c.BeginReading()
		c.Apply(0, changes)
		c.Add(reading, result(3))
		if got := has(c, 1, 2, 3); slices.Contains(got, true) {
			t.Errorf("%s: posts are cached: %v", name, got)
		}
		wantPosition(t, c, changes.Last.Millis)
		if got := c.Stats(); got.Bytes != 0 || got.Posts != 0 || got.Resets != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A reply that a failover delayed continues at a position that the cache has left.
func TestApply_DelayedReplySkipsNoChanges(t *testing.T) {
	t.Parallel()
	c := started(roomy)
	c.Apply(0, Changes{From: change(5), Last: change(3)})
	add(c, 1)
	c.Apply(0, Changes{From: change(5), Last: change(7), Complete: true, Posts: []retwis.PostID{1}})
	wantPosition(t, c, 3)
	wantCached(t, c, []int{1}, false)
}

func TestApply_KeepsTheLatestPosition(t *testing.T) {
	t.Parallel()
	c := started(roomy)
	c.Apply(0, Changes{From: change(5), Last: change(8), Complete: true})
	c.Apply(0, Changes{From: change(5), Last: change(7), Complete: true})
	wantPosition(t, c, 8)
}

func TestAdd_SkipsPostsReadBeforeADrop(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(*Cache){
		"a change": func(c *Cache) {
			c.Apply(1, Changes{From: change(5), Last: change(6), Complete: true, Posts: []retwis.PostID{1}})
		},
		"a deletion of this process": func(c *Cache) { c.Drop(1) },
	} {
		c := started(roomy)
		reading := c.BeginReading()
		drop(c)
		c.Add(reading, result(1))
		if has(c, 1)[0] {
			t.Errorf("%s: the post is cached", name)
		}
	}
}

func TestDrop_DropsThePost(t *testing.T) {
	t.Parallel()
	c := started(roomy, 1, 2)
	c.Drop(1)
	wantCached(t, c, []int{1, 2}, false, true)
}

func TestFind_MissesOldPosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := started(roomy, 1)
		time.Sleep(MaxAge / 2)
		reading := c.BeginReading()
		time.Sleep(MaxAge/2 - 1)
		c.Add(reading, result(2))
		wantCached(t, c, []int{1, 2}, true, true)
		time.Sleep(time.Nanosecond)
		wantCached(t, c, []int{1, 2}, false, true)
		time.Sleep(MaxAge / 2)
		wantCached(t, c, []int{2}, false) // its age counts from the begin of the read
		add(c, 1)
		wantCached(t, c, []int{1}, true)
	})
}

func TestAdd_KeepsTheBound(t *testing.T) {
	t.Parallel()
	const room = 3
	c := started(room * size(post(0)))
	for id := range 5 {
		add(c, id, id)
		has(c, 0) // which keeps it in use
	}
	wantCached(t, c, []int{0, 1, 2, 3, 4}, true, false, false, true, true)
	if got := c.Stats(); got.Bytes != room*size(post(0)) || got.Posts != room {
		t.Errorf("%+v", got)
	}
	long := &retwis.Post{ID: 9, Text: strings.Repeat("x", 3*overhead), Mentions: []retwis.UserID{1}}
	c.Add(c.BeginReading(), []Result{{long.ID, long}})
	if got := c.Stats(); got.Bytes > room*size(post(0)) || got.Posts != 0 {
		t.Errorf("after a post larger than the cache: %+v", got)
	}
}

func TestFind_KnowsDeletedPosts(t *testing.T) {
	t.Parallel()
	c := started(roomy)
	c.Add(c.BeginReading(), []Result{{ID: 1}})
	posts := []*retwis.Post{nil}
	find := func() bool { return c.Find([]retwis.PostID{1}, []bool{true}, posts) == nil }
	if !find() || posts[0] != nil {
		t.Errorf("got %v", posts)
	}
	c.Apply(0, Changes{From: change(5), Last: change(6), Complete: true, Posts: []retwis.PostID{1}}) // it was restored
	if find() {
		t.Error("the post is still deleted")
	}
}

func TestStats_CountReads(t *testing.T) {
	t.Parallel()
	c := started(roomy, 1)
	has(c, 1, 1, 2)
	if got := fmt.Sprint(c.Stats().Hits, c.Stats().Misses); got != "2 1" {
		t.Errorf("hits and misses: %s", got)
	}
}
