package fanout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// walk reads a timeline page by page in one direction, from a cursor.
func (e *engine) walk(r *rand.Rand, id retwis.TimelineID, older bool, from retwis.Cursor) (posts []retwis.PostID, cursors []retwis.Cursor) {
	e.t.Helper()
	for {
		n := 1 + r.IntN(15)
		page := retwis.Page{First: n, After: from}
		if !older {
			page = retwis.Page{Last: n, Before: from}
		}
		got, err := e.Timelines.Page(e.t.Context(), id, page)
		if err != nil {
			e.t.Fatal(err)
		}
		edges, more := got.Edges, got.HasNextPage
		if !older {
			edges, more = slices.Clone(edges), got.HasPreviousPage
			slices.Reverse(edges)
		}
		for _, edge := range edges {
			posts, cursors = append(posts, edge.Post.ID), append(cursors, edge.Cursor)
			from = edge.Cursor
		}
		if more && len(edges) != n {
			e.t.Fatalf("%s: a page of %d has %d posts, and more follow", id, n, len(edges))
		}
		if !more {
			return posts, cursors
		}
	}
}

func TestPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 40, Slack: 5})
		e.work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.crowd("user", 10)
		reader, authors := people[0], people[1:]
		m := newModel(people)
		for _, author := range authors {
			e.follow(reader, author)
			m.follows[reader][author] = true
		}
		for range 150 {
			author := people[r.IntN(len(people))]
			m.posts[author] = append(m.posts[author], e.post(author, "x"))
		}
		e.drain()
		for author, posts := range m.posts {
			for _, post := range posts {
				if r.IntN(6) == 0 {
					m.deleted[post] = true
					if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		e.drain()
		for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.Profile(authors[0]), retwis.Public()} {
			forward, cursors := e.walk(r, id, true, "")
			backward, _ := e.walk(r, id, false, "")
			slices.Reverse(backward)
			if !slices.Equal(forward, backward) {
				t.Errorf("%s: forward %v\nbackward %v", id, forward, backward)
			}
			switch id.Kind {
			case retwis.HomeTimeline:
				if !slices.Equal(newest(forward), m.home(reader)) {
					t.Errorf("%s: %d posts, want %d", id, len(forward), len(m.home(reader)))
				}
			case retwis.ProfileTimeline:
				if !slices.Equal(forward, m.profile(id.Owner)) {
					t.Errorf("%s: %v, want %v", id, forward, m.profile(id.Owner))
				}
			}
			for range 20 {
				i := r.IntN(len(forward))
				if got, _ := e.walk(r, id, true, cursors[i]); !slices.Equal(got, forward[i+1:]) {
					t.Errorf("%s after post %d: %v\nwant %v", id, i, got, forward[i+1:])
				}
				got, _ := e.walk(r, id, false, cursors[i])
				slices.Reverse(got)
				if !slices.Equal(got, forward[:i]) {
					t.Errorf("%s before post %d: %v\nwant %v", id, i, got, forward[:i])
				}
			}
		}
		// A cursor outlives its post, and the trimming of its entry: then it goes on by id.
		id := retwis.Home(reader)
		before, cursors := e.walk(r, id, true, "")
		place := 10
		gone := before[place]
		for author, posts := range m.posts {
			if slices.Contains(posts, gone) {
				if err := e.Posts.DeletePost(t.Context(), author, gone); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 60 {
			e.post(authors[1], "newer")
		}
		e.drain()
		older := slices.DeleteFunc(newest(before), func(post retwis.PostID) bool { return post >= gone })
		if got, _ := e.walk(r, id, true, cursors[place]); !slices.Equal(newest(got), older) {
			t.Errorf("after a deleted and trimmed post: missing %v, extra %v", surplus(older, got), surplus(got, older))
		}
	})
}

func TestFollowPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		r := redistest.Rand(t)
		star := e.register("star")[0]
		fans := e.crowd("fan", 60)
		for _, fan := range fans {
			e.follow(fan, star)
		}
		// Equal times in different partitions, as when two servers count the same microsecond.
		client := raw(t, url)
		for _, key := range keys(t, client, "*:fans:"+star.String()) {
			members, err := client.ZRange(t.Context(), key, 0, -1).Result()
			if err != nil {
				t.Fatal(err)
			}
			for i, member := range members {
				if err := client.ZAdd(t.Context(), key, z(float64(1000+i), member)).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		of := retwis.FollowConnection{Kind: retwis.Followers, User: star}
		forward := e.walkFollows(r, of, true)
		backward := e.walkFollows(r, of, false)
		slices.Reverse(backward)
		if !slices.Equal(forward, backward) {
			t.Errorf("forward %v\nbackward %v", forward, backward)
		}
		sorted := slices.Clone(forward)
		slices.Sort(sorted)
		slices.Sort(fans)
		if !slices.Equal(sorted, fans) {
			t.Errorf("%d followers, want %d", len(forward), len(fans))
		}
	})
}

func (e *engine) walkFollows(r *rand.Rand, of retwis.FollowConnection, older bool) (users []retwis.UserID) {
	e.t.Helper()
	var from retwis.Cursor
	for {
		n := 1 + r.IntN(9)
		page := retwis.Page{First: n, After: from}
		if !older {
			page = retwis.Page{Last: n, Before: from}
		}
		got, err := e.Follows.FollowPage(e.t.Context(), of, page)
		if err != nil {
			e.t.Fatal(err)
		}
		follows, more := got.Follows, got.HasNextPage
		if !older {
			slices.Reverse(follows)
			more = got.HasPreviousPage
		}
		for _, f := range follows {
			users = append(users, f.User.ID)
			from = f.Cursor
		}
		if got.TotalCount != 60 {
			e.t.Errorf("total %d", got.TotalCount)
		}
		if !more {
			return users
		}
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.register("ann", "bob")
		e.post(people[0], "x")
		page, err := e.Timelines.Page(t.Context(), retwis.Profile(people[0]), retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []retwis.TimelineID{retwis.Home(people[0]), retwis.Profile(people[1]), retwis.Public()} {
			if _, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 1, After: page.LiveCursor}); !errors.Is(err, retwis.ErrBadCursor) {
				t.Errorf("%s with a cursor of another timeline: %v", id, err)
			}
		}
	})
}

func TestColdHomeIsRebuiltWhenRead(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 50, Slack: 5})
		e.work(fanout.Options{})
		people := e.crowd("user", 6)
		reader, authors := people[0], people[1:]
		m := newModel(people)
		for _, author := range authors {
			e.follow(reader, author)
			m.follows[reader][author] = true
		}
		for i := range 120 {
			author := authors[i%len(authors)]
			m.posts[author] = append(m.posts[author], e.post(author, "x"))
		}
		e.drain()
		client := raw(t, url)
		home := keys(t, client, "*:home:"+reader.String())[0]
		for _, state := range []string{"missing", "half built"} {
			if err := client.Del(t.Context(), home).Err(); err != nil {
				t.Fatal(err)
			}
			if state == "half built" {
				if err := client.RPush(t.Context(), home, "b").Err(); err != nil {
					t.Fatal(err)
				}
			}
			author := authors[0]
			m.posts[author] = append(m.posts[author], e.post(author, "x"))
			if got, want := e.read(retwis.Home(reader)), m.home(reader); !slices.Equal(newest(got), want) {
				t.Errorf("%s home: %d posts, want %d", state, len(got), len(want))
			}
			e.drain()
			if got, want := e.read(retwis.Home(reader)), m.home(reader); !slices.Equal(newest(got), want) {
				t.Errorf("%s home, drained: %d posts, want %d", state, len(got), len(want))
			}
		}
	})
}

// A page below the list goes on by id when the home was built anew, and the list is walked
// after it: nothing comes twice, in either direction.
func TestPagesOfAHomeThatWasBuiltAnewRepeatNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.register("reader", "author")
		home := retwis.Home(people[0])
		e.follow(people[0], people[1])
		for range 30 {
			e.post(people[1], "x")
		}
		e.drain()
		forward, cursors := e.walk(r, home, true, "")
		if len(forward) != 30 {
			t.Fatalf("%d posts, want 30", len(forward))
		}
		if err := e.Timelines.Recreate(t.Context(), home); err != nil {
			t.Fatal(err)
		}
		for i, cursor := range cursors {
			if got, _ := e.walk(r, home, true, cursor); !slices.Equal(got, forward[i+1:]) {
				t.Errorf("after post %d: %v\nwant %v", i, got, forward[i+1:])
			}
			got, _ := e.walk(r, home, false, cursor)
			slices.Reverse(got)
			if !slices.Equal(got, forward[:i]) {
				t.Errorf("before post %d: %v\nwant %v", i, got, forward[:i])
			}
		}
	})
}

// A timeline that was empty, and so complete, gets no more of an author's posts than it
// holds: the older ones are gathered from the author's profile.
func TestTheOldestPostsOfTheOnlyAuthorAreRead(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const homeCap = 20
		e := newEngine(t, store.Options{URL: url, HomeCap: homeCap, Slack: 5})
		e.work(fanout.Options{})
		people := e.crowd("user", 3)
		reader, author, other := people[0], people[1], people[2]
		var posts []retwis.PostID
		for range homeCap + 7 {
			posts = append(posts, e.post(author, "x"))
		}
		e.drain()
		e.follow(reader, author)
		list := e.createList(other, author)
		e.drain()
		for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.ListPosts(list)} {
			if got, want := e.read(id), newest(posts); !slices.Equal(got, want) {
				t.Errorf("%s: %d posts, want %d", id, len(got), len(want))
			}
		}
		e.isSound()
	})
}

// A large author posted more than is kept for the homes since one of them was last read.
func TestAHomeLeftForLongHasNoGap(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const homeCap, slack = 20, 5
		for _, friendly := range []int{0, 3} {
			e := newEngine(t, store.Options{URL: url, HomeCap: homeCap, Slack: slack, PullAbove: 1})
			e.work(fanout.Options{})
			people := e.crowd(fmt.Sprint("user", friendly), 4)
			reader, author, friend := people[0], people[1], people[2]
			e.follow(reader, author)
			e.follow(people[3], author)
			e.follow(reader, friend)
			posts := []retwis.PostID{e.post(author, "x")}
			for range friendly {
				posts = append(posts, e.post(friend, "x"))
			}
			e.drain()
			if got, want := newest(e.read(retwis.Home(reader))), newest(posts); !slices.Equal(got, want) {
				t.Fatalf("%d posts, want %d", len(got), len(want))
			}
			// With the first one: what is kept has just been trimmed, and fits on the home.
			for range homeCap + 4*(slack+1) - 1 {
				posts = append(posts, e.post(author, "x"))
			}
			e.drain()
			if got, want := newest(e.read(retwis.Home(reader))), newest(posts); !slices.Equal(got, want) {
				t.Errorf("after %d posts of others: %d posts, want %d", friendly, len(got), len(want))
			}
			e.isSound()
		}
	})
}
