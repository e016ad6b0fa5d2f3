package fanout_test

import (
	"maps"
	"slices"

	"retwis/internal/retwis"
)

// made returns all posts of authors, including deleted ones, newest first.
func (m *model) made(authors map[retwis.UserID]bool) []retwis.PostID {
	var all []retwis.PostID
	for author := range authors {
		all = append(all, m.posts[author]...)
	}
	return newest(all)
}

// kept returns the undeleted posts among posts.
func (m *model) kept(posts []retwis.PostID) []retwis.PostID {
	return slices.DeleteFunc(slices.Clone(posts), func(post retwis.PostID) bool { return m.deleted[post] })
}

// present returns the users who have an account.
func (m *model) present(users map[retwis.UserID]bool) map[retwis.UserID]bool {
	users = maps.Clone(users)
	maps.DeleteFunc(users, func(id retwis.UserID, _ bool) bool { return m.gone[id] })
	return users
}

// sources returns the users whose posts a home receives.
func (m *model) sources(reader retwis.UserID) map[retwis.UserID]bool {
	all := maps.Clone(m.follows[reader])
	all[reader] = true
	return all
}

// home returns the definition of a home without its cap: the undeleted posts of the reader and
// of the users the reader follows, newest first.
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
		// Mentions beyond the cap are lost: no other data contains them.
		named := newest(m.named[user])
		got, want := e.read(retwis.Mentions(user)), m.kept(named)
		sure := m.kept(named[:min(len(named), homeCap-slack)])
		if len(surplus(got, want)) > 0 || len(surplus(sure, got)) > 0 {
			e.t.Errorf("mentions of %s: missing %v, extra or duplicate %v", user, surplus(sure, got), surplus(got, want))
		}
		m.verifyFollows(e, user)
		m.verifyLists(e, user)
		if e.t.Failed() {
			return
		}
	}
	e.isSound()
}

// verifyFannedOut compares a home or list timeline with the posts of its sources.
func (m *model) verifyFannedOut(e *engine, id retwis.TimelineID, sources map[retwis.UserID]bool, author map[retwis.PostID]retwis.UserID, homeCap, slack int) {
	e.t.Helper()
	var kept, all []retwis.PostID // posts in the list, and including those gathered below it
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
	// Posts of deleted accounts may still have entries in the list.
	sources = maps.Clone(sources)
	maps.Copy(sources, m.gone)
	made := m.made(sources)
	if want := m.kept(made); !slices.Equal(newest(all), want) {
		e.t.Errorf("%s: missing %v, extra or duplicate %v (of %d)", id, surplus(want, all), surplus(all, want), len(want))
	}
	if len(kept) > homeCap+slack {
		e.t.Errorf("%s holds %d entries, want at most %d", id, len(kept), homeCap+slack)
	}
	// Pages gather posts that are older than the list. The newest posts must be in the list
	// itself, in which deleted posts keep their entries.
	if missing := surplus(m.kept(made[:max(0, min(homeCap-slack, len(made)))]), kept); len(missing) > 0 {
		e.t.Errorf("%s: not in the list: %v", id, missing)
	}
	last := map[retwis.UserID]retwis.PostID{}
	for _, post := range kept {
		by := author[post]
		if newer, ok := last[by]; ok && newer <= post {
			e.t.Errorf("%s: %s is below %s of the same author", id, post, newer)
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
				e.t.Errorf("membership of %s in list %s: %t, want %t", pair.User, pair.List, memberships[i], want[pair.User])
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

// follows reads all pages of a connection. It returns the users and the total count.
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

// surplus returns the posts that a contains more often than b.
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
