package fanout_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
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
	gone    map[retwis.UserID]bool                   // who deleted the account
	follows map[retwis.UserID]map[retwis.UserID]bool // reader → authors
	lists   map[retwis.UserID][]retwis.ListID
	members map[retwis.ListID]map[retwis.UserID]bool
	named   map[retwis.UserID][]retwis.PostID // posts that name a user
}

func newModel(people []retwis.UserID) *model {
	m := &model{
		people:  people,
		posts:   map[retwis.UserID][]retwis.PostID{},
		deleted: map[retwis.PostID]bool{},
		gone:    map[retwis.UserID]bool{},
		follows: map[retwis.UserID]map[retwis.UserID]bool{},
		lists:   map[retwis.UserID][]retwis.ListID{},
		members: map[retwis.ListID]map[retwis.UserID]bool{},
		named:   map[retwis.UserID][]retwis.PostID{},
	}
	for _, id := range people {
		m.follows[id] = map[retwis.UserID]bool{}
	}
	return m
}

// act makes one random step of a user, in the database and in the model.
func (m *model) act(e *engine, r *rand.Rand, user retwis.UserID) error {
	i := r.IntN(len(m.people))
	other := m.people[i]
	if m.left(user) {
		return nil
	}
	if r.IntN(redistest.Size(500, 1000)) == 0 && m.leave(user) {
		return e.Accounts.DeleteAccount(e.t.Context(), user, "x")
	}
	err := m.step(e, r, user, i)
	if m.left(other) && errors.Is(err, retwis.ErrNotFound) {
		return nil
	}
	return err
}

// leave notes that a user leaves, unless many have left already.
func (m *model) leave(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if 4*len(m.gone) > len(m.people) {
		return false
	}
	m.gone[user] = true
	return true
}

func (m *model) left(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone[user]
}

// step makes one random step of a user that may concern the i-th one.
func (m *model) step(e *engine, r *rand.Rand, user retwis.UserID, i int) error {
	ctx := e.t.Context()
	other := m.people[i]
	switch n := r.IntN(130); {
	case n < 50:
		text := fmt.Sprint("post ", n)
		mentions := n < 10
		if mentions {
			text = fmt.Sprintf("@user%d and @user%d again, but not me@user%d", i, i, (i+1)%len(m.people))
		}
		edge, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: user, Text: text, IdempotencyKey: e.key()})
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.posts[user] = append(m.posts[user], edge.Post.ID)
		if mentions {
			m.named[other] = append(m.named[other], edge.Post.ID)
		}
		m.mu.Unlock()
	case n < 60:
		m.mu.Lock()
		made := m.posts[user]
		m.mu.Unlock()
		if len(made) == 0 {
			return nil
		}
		post := made[r.IntN(len(made))]
		if err := e.Posts.DeletePost(ctx, user, post); err != nil {
			return err
		}
		m.mu.Lock()
		m.deleted[post] = true
		m.mu.Unlock()
	case other == user:
	case n < 85:
		if err := e.Follows.Follow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		m.follows[user][other] = true
		m.mu.Unlock()
	case n >= 120:
		_, err := e.Timelines.Page(ctx, retwis.Home(other), retwis.Page{First: 1 + r.IntN(20)})
		return err
	case n >= 100:
		return m.actOnLists(e, r, user, other)
	default:
		if err := e.Follows.Unfollow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.follows[user], other)
		m.mu.Unlock()
	}
	return nil
}

// actOnLists makes one random step with a user's lists.
func (m *model) actOnLists(e *engine, r *rand.Rand, user, other retwis.UserID) error {
	ctx := e.t.Context()
	m.mu.Lock()
	lists := m.lists[user]
	m.mu.Unlock()
	if len(lists) < 2 {
		list, err := e.Lists.CreateList(ctx, user, "a list", e.key())
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.lists[user] = append(lists, list.ID)
		m.members[list.ID] = map[retwis.UserID]bool{}
		m.mu.Unlock()
		return nil
	}
	i := r.IntN(len(lists))
	switch n := r.IntN(20); {
	case n < 12:
		if err := e.Lists.AddListMember(ctx, user, lists[i], other); err != nil {
			return err
		}
		m.mu.Lock()
		m.members[lists[i]][other] = true
		m.mu.Unlock()
	case n < 19:
		if err := e.Lists.RemoveListMember(ctx, user, lists[i], other); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.members[lists[i]], other)
		m.mu.Unlock()
	default:
		if err := e.Lists.DeleteList(ctx, user, lists[i]); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.members, lists[i])
		m.lists[user] = slices.Delete(slices.Clone(lists), i, i+1)
		m.mu.Unlock()
	}
	return nil
}

// made returns every post of authors, deleted ones too, newest first.
func (m *model) made(authors map[retwis.UserID]bool) []retwis.PostID {
	var all []retwis.PostID
	for author := range authors {
		all = append(all, m.posts[author]...)
	}
	return newest(all)
}

// kept drops deleted posts.
func (m *model) kept(posts []retwis.PostID) []retwis.PostID {
	return slices.DeleteFunc(slices.Clone(posts), func(post retwis.PostID) bool { return m.deleted[post] })
}

// present are those who did not leave.
func (m *model) present(users map[retwis.UserID]bool) map[retwis.UserID]bool {
	users = maps.Clone(users)
	maps.DeleteFunc(users, func(id retwis.UserID, _ bool) bool { return m.gone[id] })
	return users
}

// sources are those whose posts a home gets.
func (m *model) sources(reader retwis.UserID) map[retwis.UserID]bool {
	all := maps.Clone(m.follows[reader])
	all[reader] = true
	return all
}

// home is a home's definition without its cap: the undeleted posts of a reader and of
// those followed, newest first.
func (m *model) home(reader retwis.UserID) []retwis.PostID {
	return m.kept(m.made(m.sources(reader)))
}

func (m *model) profile(author retwis.UserID) []retwis.PostID {
	return m.kept(newest(m.posts[author]))
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
	for user := range m.gone {
		for _, post := range m.posts[user] {
			m.deleted[post] = true
		}
	}
	e.nothingIsLeftOf(slices.Collect(maps.Keys(m.gone))...)
	for _, user := range m.people {
		if m.gone[user] {
			continue
		}
		m.verifyFannedOut(e, retwis.Home(user), m.sources(user), author, homeCap, slack)
		for _, list := range m.lists[user] {
			m.verifyFannedOut(e, retwis.ListPosts(list), m.members[list], author, homeCap, slack)
		}
		if got, want := e.read(retwis.Profile(user)), m.profile(user); !slices.Equal(got, want) {
			e.t.Errorf("profile of %s: %v, want %v", user, got, want)
		}
		// Mentions older than the cap are not gathered from anywhere.
		named := newest(m.named[user])
		got, want := e.read(retwis.Mentions(user)), m.kept(named)
		sure := m.kept(named[:min(len(named), homeCap-slack)])
		if len(surplus(got, want)) > 0 || len(surplus(sure, got)) > 0 {
			e.t.Errorf("mentions of %s: missing %v, extra or doubled %v", user, surplus(sure, got), surplus(got, want))
		}
		m.verifyFollows(e, user)
		m.verifyLists(e, user)
		if e.t.Failed() {
			return
		}
	}
	e.isSound()
}

// verifyFannedOut compares a home or a list with what its sources made.
func (m *model) verifyFannedOut(e *engine, id retwis.TimelineID, sources map[retwis.UserID]bool, author map[retwis.PostID]retwis.UserID, homeCap, slack int) {
	e.t.Helper()
	var kept, all []retwis.PostID // in the list, and with what is gathered below it
	var after retwis.Cursor
	for more := true; more; {
		page, err := e.Timelines.Page(e.t.Context(), id, retwis.Page{First: 37, After: after})
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
	// What those made who left may still have places in the list.
	sources = maps.Clone(sources)
	maps.Copy(sources, m.gone)
	made := m.made(sources)
	if want := m.kept(made); !slices.Equal(newest(all), want) {
		e.t.Errorf("%s: missing %v, extra or doubled %v (of %d)", id, surplus(want, all), surplus(all, want), len(want))
	}
	if len(kept) > homeCap+slack {
		e.t.Errorf("%s keeps %d entries", id, len(kept))
	}
	// Older posts than the list keeps are gathered; the newest must be in the list itself,
	// where deleted ones keep their places.
	if missing := surplus(m.kept(made[:max(0, min(homeCap-slack, len(made)))]), kept); len(missing) > 0 {
		e.t.Errorf("%s: not in the list: %v", id, missing)
	}
	last := map[retwis.UserID]retwis.PostID{}
	for _, post := range kept {
		by := author[post]
		if newer, ok := last[by]; ok && newer <= post {
			e.t.Errorf("%s: %s stands below %s of the same author", id, post, newer)
		}
		last[by] = post
	}
}

func (m *model) verifyLists(e *engine, owner retwis.UserID) {
	e.t.Helper()
	page, err := e.Lists.ListPage(e.t.Context(), owner, retwis.Page{First: 100})
	if err != nil {
		e.t.Fatal(err)
	}
	var got []retwis.ListID
	for _, edge := range page.Edges {
		got = append(got, edge.List.ID)
		users, total := e.follows(retwis.ListMembers(edge.List.ID))
		want := m.present(m.members[edge.List.ID])
		if total != len(want) || len(users) != len(want) || slices.ContainsFunc(users, func(id retwis.UserID) bool { return !want[id] }) {
			e.t.Errorf("members of list %s: %v (total %d), want %v", edge.List.ID, users, total, want)
		}
		var pairs []retwis.Membership
		for _, user := range m.people {
			pairs = append(pairs, retwis.Membership{List: edge.List.ID, User: user})
		}
		memberships, err := e.Lists.Memberships(e.t.Context(), pairs)
		if err != nil {
			e.t.Fatal(err)
		}
		for i, pair := range pairs {
			if memberships[i] != want[pair.User] {
				e.t.Errorf("%s is on list %s: %t, want %t", pair.User, pair.List, memberships[i], want[pair.User])
			}
		}
	}
	want := slices.Clone(m.lists[owner])
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		e.t.Errorf("lists of %s: %v, want %v", owner, got, want)
	}
}

func (m *model) verifyFollows(e *engine, user retwis.UserID) {
	e.t.Helper()
	var following, followers []retwis.UserID
	for author := range m.present(m.follows[user]) {
		following = append(following, author)
	}
	for reader, authors := range m.follows {
		if authors[user] && !m.gone[reader] {
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
	users, err := e.Accounts.Users(e.t.Context(), []retwis.UserID{user})
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
		page, err := e.Follows.FollowPage(e.t.Context(), of, retwis.Page{First: 7, After: after})
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

// letCatchUp waits while fan-out lags: what arrives later than its successors by more than
// the slack of a small home may push them out of the list.
func (e *engine) letCatchUp() {
	for {
		if waiting, err := e.Outbox.OutboxLength(e.t.Context()); err != nil || waiting < 5 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// comeAndGo has workers take outboxes over from each other all the time, until settle is
// called.
func (e *engine) comeAndGo(r *rand.Rand) (settle func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, stop := e.work(fanout.Options{Lease: shortLease})
			select {
			case <-over:
				return
			case <-time.After(time.Duration(r.IntN(100)) * time.Millisecond):
			}
			stop()
		}
	}()
	return func() { close(over); <-done }
}

func TestHomesEqualTheirDefinitionAfterRandomActs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options store.Options
	}{
		{"room for all", store.Options{HomeCap: 20_000}},
		{"small homes", store.Options{HomeCap: 60, Slack: 20, Chunk: 5}},
		{"large authors", store.Options{HomeCap: 20_000, PullAbove: 6, Chunk: 5}},
		{"large authors, small homes", store.Options{HomeCap: 60, Slack: 20, PullAbove: 6, Chunk: 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL, options.GoneGrace = url, shortGrace
				e := newEngine(t, options)
				e.work(fanout.Options{Lease: shortLease})
				r := redistest.Rand(t)
				settle := e.comeAndGo(rand.New(rand.NewPCG(r.Uint64(), 1)))
				m := newModel(e.crowd("user", redistest.Size(80, 200)))
				const goroutines = 8
				var wg sync.WaitGroup
				for g := range goroutines {
					own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
					wg.Go(func() {
						for range redistest.Size(3000, 20_000) / goroutines {
							if options.Slack > 0 {
								e.letCatchUp()
							}
							user := m.people[own.IntN(len(m.people)/goroutines)*goroutines+g]
							if err := m.act(e, own, user); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				settle()
				e.drain()
				t.Logf("%d accounts were deleted", len(m.gone))
				m.verify(e, options.HomeCap, max(options.Slack, 1))
				e.isSound()
			})
		})
	}
}
