package fanout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// model is what the database should hold. Each user's acts are made by one goroutine, so
// their order is known; locks protect the maps only.
type model struct {
	mu      sync.Mutex
	people  []retwis.UserID
	posts   map[retwis.UserID][]retwis.PostID // in the order they were made
	deleted map[retwis.PostID]bool
	follows map[retwis.UserID]map[retwis.UserID]bool // reader → authors
}

func newModel(people []retwis.UserID) *model {
	m := &model{
		people:  people,
		posts:   map[retwis.UserID][]retwis.PostID{},
		deleted: map[retwis.PostID]bool{},
		follows: map[retwis.UserID]map[retwis.UserID]bool{},
	}
	for _, id := range people {
		m.follows[id] = map[retwis.UserID]bool{}
	}
	return m
}

// act makes one random step of a user, in the database and in the model.
func (m *model) act(e *engine, r *rand.Rand, user retwis.UserID) error {
	ctx := e.t.Context()
	other := m.people[r.IntN(len(m.people))]
	switch n := r.IntN(100); {
	case n < 50:
		edge, err := e.CreatePost(ctx, retwis.NewPost{Author: user, Text: fmt.Sprint("post ", n), IdempotencyKey: e.key()})
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.posts[user] = append(m.posts[user], edge.Post.ID)
		m.mu.Unlock()
	case n < 60:
		m.mu.Lock()
		made := m.posts[user]
		m.mu.Unlock()
		if len(made) == 0 {
			return nil
		}
		post := made[r.IntN(len(made))]
		if err := e.DeletePost(ctx, user, post); err != nil {
			return err
		}
		m.mu.Lock()
		m.deleted[post] = true
		m.mu.Unlock()
	case other == user:
	case n < 85:
		if err := e.Follow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		m.follows[user][other] = true
		m.mu.Unlock()
	default:
		if err := e.Unfollow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.follows[user], other)
		m.mu.Unlock()
	}
	return nil
}

// home is a home's definition without its cap: the undeleted posts of a reader and of
// those followed, newest first.
func (m *model) home(reader retwis.UserID) []retwis.PostID {
	var all []retwis.PostID
	for author := range m.follows[reader] {
		all = append(all, m.profile(author)...)
	}
	return newest(append(all, m.profile(reader)...))
}

func (m *model) profile(author retwis.UserID) []retwis.PostID {
	var kept []retwis.PostID
	for _, post := range m.posts[author] {
		if !m.deleted[post] {
			kept = append(kept, post)
		}
	}
	return newest(kept)
}

func (m *model) authors() map[retwis.PostID]retwis.UserID {
	of := map[retwis.PostID]retwis.UserID{}
	for author, posts := range m.posts {
		for _, post := range posts {
			of[post] = author
		}
	}
	return of
}

// verify compares the database with the model, once the outboxes are drained.
func (m *model) verify(e *engine, homeCap, slack int) {
	e.t.Helper()
	author := m.authors()
	for _, reader := range m.people {
		m.verifyHome(e, reader, author, homeCap, slack)
		if got, want := e.read(retwis.Profile(reader)), m.profile(reader); !slices.Equal(got, want) {
			e.t.Errorf("profile of %s: %v, want %v", reader, got, want)
		}
		m.verifyFollows(e, reader)
		if e.t.Failed() {
			return
		}
	}
}

func (m *model) verifyHome(e *engine, reader retwis.UserID, author map[retwis.PostID]retwis.UserID, homeCap, slack int) {
	e.t.Helper()
	id := retwis.Home(reader)
	var kept, all []retwis.PostID // in the list, and with what is gathered below it
	var after retwis.Cursor
	for more := true; more; {
		page, err := e.Page(e.t.Context(), id, retwis.Page{First: 37, After: after})
		if err != nil {
			e.t.Fatal(err)
		}
		for _, edge := range page.Edges {
			at, err := edge.Cursor.TimelinePosition(id)
			if err != nil {
				e.t.Fatal(err)
			}
			all = append(all, at.Post)
			if !at.Deep {
				kept = append(kept, at.Post)
			}
			after = edge.Cursor
		}
		more = page.HasNextPage
	}
	want := m.home(reader)
	if !slices.Equal(newest(all), want) {
		e.t.Errorf("home of %s: missing %v, extra or doubled %v (of %d)", reader, surplus(want, all), surplus(all, want), len(want))
	}
	if len(kept) > homeCap+slack {
		e.t.Errorf("home of %s keeps %d entries", reader, len(kept))
	}
	// Older posts than the list keeps are gathered; the newest must be in the list itself,
	// where deleted ones keep their places.
	made := newest(m.followedPosts(reader))
	sure := slices.DeleteFunc(made[:max(0, min(homeCap-slack, len(made)))], func(post retwis.PostID) bool { return m.deleted[post] })
	if missing := surplus(sure, kept); len(missing) > 0 {
		e.t.Errorf("home of %s: not in the list: %v", reader, missing)
	}
	last := map[retwis.UserID]retwis.PostID{}
	for _, post := range kept {
		by := author[post]
		if newer, ok := last[by]; ok && newer <= post {
			e.t.Errorf("home of %s: %s stands below %s of the same author", reader, post, newer)
		}
		last[by] = post
	}
}

func (m *model) followedPosts(reader retwis.UserID) []retwis.PostID {
	all := slices.Clone(m.posts[reader])
	for author := range m.follows[reader] {
		all = append(all, m.posts[author]...)
	}
	return all
}

func (m *model) verifyFollows(e *engine, user retwis.UserID) {
	e.t.Helper()
	var following, followers []retwis.UserID
	for author := range m.follows[user] {
		following = append(following, author)
	}
	for reader, authors := range m.follows {
		if authors[user] {
			followers = append(followers, reader)
		}
	}
	for kind, want := range map[retwis.FollowKind][]retwis.UserID{retwis.Followers: followers, retwis.Following: following} {
		got, total := e.follows(retwis.FollowConnection{Kind: kind, User: user})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || total != len(want) {
			e.t.Errorf("connection %d of %s: %d users (total %d), want %d", kind, user, len(got), total, len(want))
		}
	}
	users, err := e.Users(e.t.Context(), []retwis.UserID{user})
	if err != nil {
		e.t.Fatal(err)
	}
	if u := users[0]; u.FollowerCount != len(followers) || u.FollowingCount != len(following) || u.PostCount != len(m.profile(user)) {
		e.t.Errorf("%s: counts %d %d %d, want %d %d %d", user, u.FollowerCount, u.FollowingCount, u.PostCount,
			len(followers), len(following), len(m.profile(user)))
	}
}

// follows reads a whole connection, page by page.
func (e *engine) follows(of retwis.FollowConnection) ([]retwis.UserID, int) {
	e.t.Helper()
	var all []retwis.UserID
	var after retwis.Cursor
	for {
		page, err := e.FollowPage(e.t.Context(), of, retwis.Page{First: 7, After: after})
		if err != nil {
			e.t.Fatal(err)
		}
		for _, f := range page.Follows {
			all = append(all, f.User.ID)
			after = f.Cursor
		}
		if !page.HasNextPage {
			return all, page.TotalCount
		}
	}
}

// surplus returns what a has more often than b.
func surplus(a, b []retwis.PostID) []retwis.PostID {
	count := map[retwis.PostID]int{}
	for _, id := range b {
		count[id]++
	}
	var more []retwis.PostID
	for _, id := range a {
		if count[id]--; count[id] < 0 {
			more = append(more, id)
		}
	}
	return more
}

func TestHomesEqualTheirDefinitionAfterRandomActs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options store.Options
	}{
		{"room for all", store.Options{HomeCap: 20_000}},
		{"small homes", store.Options{HomeCap: 60, Slack: 8, Chunk: 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				e := newEngine(t, options)
				e.work(fanout.Options{})
				e.work(fanout.Options{})
				r := seeded(t)
				m := newModel(e.crowd("user", size(80, 200)))
				const goroutines = 8
				var wg sync.WaitGroup
				for g := range goroutines {
					own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
					wg.Go(func() {
						for range size(3000, 20_000) / goroutines {
							user := m.people[own.IntN(len(m.people)/goroutines)*goroutines+g]
							if err := m.act(e, own, user); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				e.drain()
				m.verify(e, options.HomeCap, max(options.Slack, 1))
			})
		})
	}
}
