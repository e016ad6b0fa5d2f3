package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"

	"github.com/redis/go-redis/v9"
)

func TestPage_NeitherSkipsNorRepeats(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 40, Slack: 5})
		e.Work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.Crowd("user", 10)
		reader, authors := people[0], people[1:]
		m := enginetest.NewModel(people)
		for _, author := range authors {
			e.Follow(reader, author)
			m.Follows[reader][author] = true
		}
		for range 150 {
			author := people[r.IntN(len(people))]
			m.Posts[author] = append(m.Posts[author], e.Post(author, "x"))
		}
		e.Drain()
		for author, posts := range m.Posts {
			for _, post := range posts {
				if r.IntN(6) == 0 {
					m.Deleted[post] = true
					if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		e.Drain()
		for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.Profile(authors[0]), retwis.Public()} {
			forward, cursors := e.Walk(r, id, true, "")
			backward, _ := e.Walk(r, id, false, "")
			slices.Reverse(backward)
			if !slices.Equal(forward, backward) {
				t.Errorf("%s: forward %v\nbackward %v", id, forward, backward)
			}
			switch id.Kind {
			case retwis.HomeTimeline:
				if want := m.Home(e.Engine, reader); !slices.Equal(enginetest.Newest(forward), enginetest.PostsOf(want)) {
					t.Errorf("%s: %d posts, want %d", id, len(forward), len(want))
				}
			case retwis.ProfileTimeline:
				if want := m.Profile(id.Owner, false); !slices.Equal(forward, want) {
					t.Errorf("%s: %v, want %v", id, forward, want)
				}
			}
			for range 20 {
				i := r.IntN(len(forward))
				if got, _ := e.Walk(r, id, true, cursors[i]); !slices.Equal(got, forward[i+1:]) {
					t.Errorf("%s after post %d: %v\nwant %v", id, i, got, forward[i+1:])
				}
				got, _ := e.Walk(r, id, false, cursors[i])
				slices.Reverse(got)
				if !slices.Equal(got, forward[:i]) {
					t.Errorf("%s before post %d: %v\nwant %v", id, i, got, forward[:i])
				}
			}
		}
		// A cursor stays valid when its post is deleted and its entry trimmed. The page then continues by id, below the
		// highest one of the entries that the cursor names, and of those that the list lost below late ones: entries are in order of arrival, and include
		// deleted posts.
		id := retwis.Home(reader)
		before, cursors := e.Walk(r, id, true, "")
		place := 10
		gone := before[place]
		client := enginetest.Client(t, url)
		entries := client.LRange(t.Context(), enginetest.Keys(t, client, "*:home:"+reader.String())[0], 0, -1).Val()
		at := slices.Index(entries, gone.String())
		if at < 0 {
			t.Fatalf("the list does not hold post %d of the home", place)
		}
		highest := gone
		for _, entry := range entries[at:][:1+retwis.CursorReserve] {
			element, err := retwis.ParseElement(entry)
			if err != nil {
				t.Fatal(err)
			}
			highest = max(highest, element.ID)
		}
		for author, posts := range m.Posts {
			if slices.Contains(posts, gone) {
				if err := e.Posts.DeletePost(t.Context(), author, gone); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 60 {
			e.Post(authors[1], "newer")
		}
		e.Drain()
		displaced, _ := client.HGet(t.Context(), enginetest.Keys(t, client, "*:user:"+reader.String())[0], "displaced").Int64()
		highest = max(highest, retwis.PostID(displaced))
		older := slices.DeleteFunc(enginetest.Newest(before), func(post retwis.PostID) bool { return post > highest || post == gone })
		if got, _ := e.Walk(r, id, true, cursors[place]); !slices.Equal(enginetest.Newest(got), older) {
			t.Errorf("after a deleted and trimmed post: missing %v, extra %v", enginetest.Surplus(older, got), enginetest.Surplus(got, older))
		}
	})
}

func TestFollowPage_NeitherSkipsNorRepeats(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		r := redistest.Rand(t)
		star := e.Register("star")[0]
		fans := e.Crowd("fan", 60)
		for _, fan := range fans {
			e.Follow(fan, star)
		}
		// Equal times in different partitions, as when two servers count the same microsecond.
		client := enginetest.Client(t, url)
		for _, key := range enginetest.Keys(t, client, "*:fans:"+star.String()) {
			members, err := client.ZRange(t.Context(), key, 0, -1).Result()
			if err != nil {
				t.Fatal(err)
			}
			for i, member := range members {
				if err := client.ZAdd(t.Context(), key, redis.Z{Score: float64(1000 + i), Member: member}).Err(); err != nil {
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
	e.T.Helper()
	var from retwis.Cursor
	for {
		n := 1 + r.IntN(9)
		page := retwis.Page{First: n, After: from}
		if !older {
			page = retwis.Page{Last: n, Before: from}
		}
		got, err := e.Follows.FollowPage(e.T.Context(), of, page)
		if err != nil {
			e.T.Fatal(err)
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
			e.T.Errorf("total %d", got.TotalCount)
		}
		if !more {
			return users
		}
	}
}

func TestPage_RefusesCursorsOfOtherTimelines(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.Register("ann", "bob")
		e.Post(people[0], "x")
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

func TestPage_RebuildsAMissingHome(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 50, Slack: 5})
		e.Work(fanout.Options{})
		people := e.Crowd("user", 6)
		reader, authors := people[0], people[1:]
		m := enginetest.NewModel(people)
		for _, author := range authors {
			e.Follow(reader, author)
			m.Follows[reader][author] = true
		}
		for i := range 120 {
			author := authors[i%len(authors)]
			m.Posts[author] = append(m.Posts[author], e.Post(author, "x"))
		}
		e.Drain()
		client := enginetest.Client(t, url)
		home := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
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
			m.Posts[author] = append(m.Posts[author], e.Post(author, "x"))
			if got, want := e.Read(retwis.Home(reader)), enginetest.PostsOf(m.Home(e.Engine, reader)); !slices.Equal(enginetest.Newest(got), want) {
				t.Errorf("%s home: %d posts, want %d", state, len(got), len(want))
			}
			e.Drain()
			if got, want := e.Read(retwis.Home(reader)), enginetest.PostsOf(m.Home(e.Engine, reader)); !slices.Equal(enginetest.Newest(got), want) {
				t.Errorf("%s home, drained: %d posts, want %d", state, len(got), len(want))
			}
		}
	})
}

// A page below the list goes on by id when the home was built anew, and the list is walked
// after it: nothing comes twice, in either direction.
func TestPage_RepeatsNothingAfterARebuild(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.Work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.Register("reader", "author")
		home := retwis.Home(people[0])
		e.Follow(people[0], people[1])
		for range 30 {
			e.Post(people[1], "x")
		}
		e.Drain()
		forward, cursors := e.Walk(r, home, true, "")
		if len(forward) != 30 {
			t.Fatalf("%d posts, want 30", len(forward))
		}
		if err := e.Timelines.Recreate(t.Context(), home); err != nil {
			t.Fatal(err)
		}
		for i, cursor := range cursors {
			if got, _ := e.Walk(r, home, true, cursor); !slices.Equal(got, forward[i+1:]) {
				t.Errorf("after post %d: %v\nwant %v", i, got, forward[i+1:])
			}
			got, _ := e.Walk(r, home, false, cursor)
			slices.Reverse(got)
			if !slices.Equal(got, forward[:i]) {
				t.Errorf("before post %d: %v\nwant %v", i, got, forward[:i])
			}
		}
	})
}

// A timeline that was empty, and so complete, gets no more of an author's posts than it
// holds: the older ones are gathered from the author's profile.
func TestPage_ReadsTheOldestPostsOfASingleAuthor(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const homeCap = 20
		e := newEngine(t, store.Options{URL: url, HomeCap: homeCap, Slack: 5})
		e.Work(fanout.Options{})
		people := e.Crowd("user", 3)
		reader, author, other := people[0], people[1], people[2]
		var posts []retwis.PostID
		for range homeCap + 7 {
			posts = append(posts, e.Post(author, "x"))
		}
		e.Drain()
		e.Follow(reader, author)
		list := e.CreateList(other, author)
		e.Drain()
		for _, id := range []retwis.TimelineID{retwis.Home(reader), retwis.ListPosts(list)} {
			if got, want := e.Read(id), enginetest.Newest(posts); !slices.Equal(got, want) {
				t.Errorf("%s: %d posts, want %d", id, len(got), len(want))
			}
		}
		e.IsSound()
	})
}

// A large author posted more than is kept for the homes since one of them was last read.
func TestPage_HasNoGapAfterALongAbsence(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const homeCap, slack = 20, 5
		for _, friendly := range []int{0, 3} {
			e := newEngine(t, store.Options{URL: url, HomeCap: homeCap, Slack: slack, PullAbove: 1})
			e.Work(fanout.Options{})
			people := e.Crowd(fmt.Sprint("user", friendly), 4)
			reader, author, friend := people[0], people[1], people[2]
			e.Follow(reader, author)
			e.Follow(people[3], author)
			e.Follow(reader, friend)
			posts := []retwis.PostID{e.Post(author, "x")}
			for range friendly {
				posts = append(posts, e.Post(friend, "x"))
			}
			e.Drain()
			if got, want := enginetest.Newest(e.Read(retwis.Home(reader))), enginetest.Newest(posts); !slices.Equal(got, want) {
				t.Fatalf("%d posts, want %d", len(got), len(want))
			}
			// With the first one: what is kept has just been trimmed, and fits on the home.
			for range homeCap + 4*(slack+1) - 1 {
				posts = append(posts, e.Post(author, "x"))
			}
			e.Drain()
			if got, want := enginetest.Newest(e.Read(retwis.Home(reader))), enginetest.Newest(posts); !slices.Equal(got, want) {
				t.Errorf("after %d posts of others: %d posts, want %d", friendly, len(got), len(want))
			}
			e.IsSound()
		}
	})
}
