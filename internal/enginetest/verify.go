package enginetest

import (
	"cmp"
	"maps"
	"slices"

	"retwis/internal/check"
	"retwis/internal/retwis"
)

// Verify compares the database with the model, once the outboxes are drained. slack is how many entries of a full list may be
// older than posts that it lacks.
func (m *Model) Verify(e *Engine, homeCap, slack int) {
	e.T.Helper()
	author := m.authors()
	for user := range m.Gone {
		for _, post := range m.Posts[user] {
			m.Deleted[post] = true
		}
		for _, repost := range m.reposts[user] {
			m.Deleted[repost.ID] = true
		}
	}
	e.NothingIsLeftOf(slices.Collect(maps.Keys(m.Gone))...)
	for _, user := range m.People {
		if m.Gone[user] {
			continue
		}
		m.verifyFannedOut(e, retwis.Home(user), user, m.sources(user), author, homeCap, slack)
		for _, list := range m.lists[user] {
			m.verifyFannedOut(e, retwis.ListPosts(list), user, m.members[list], author, homeCap, slack)
		}
		for id, want := range map[retwis.TimelineID][]retwis.PostID{retwis.Profile(user): m.Profile(user, false), retwis.ProfileWithReplies(user): m.Profile(user, true)} {
			if got := e.Read(id); !slices.Equal(got, want) {
				e.T.Errorf("%s: %v, want %v", id, got, want)
			}
		}
		// Mentions beyond the cap are lost: no other data contains them.
		named := Newest(m.named[user])
		got, want := e.Read(retwis.Mentions(user)), m.kept(named)
		sure := m.kept(named[:min(len(named), homeCap-slack)])
		if len(Surplus(got, want)) > 0 || len(Surplus(sure, got)) > 0 {
			e.T.Errorf("mentions of %s: missing %v, extra or duplicate %v", user, Surplus(sure, got), Surplus(got, want))
		}
		m.verifyFollows(e, user)
		m.verifyLists(e, user)
		if e.T.Failed() {
			return
		}
	}
	m.verifyReplies(e)
	m.verifyTags(e, homeCap, slack)
	m.verifyLikes(e)
	m.verifyQuotes(e)
	m.verifyReposts(e)
	if slack < homeCap {
		e.IsSound()
	} else {
		e.IsSound(check.Missing, check.TagMissing) // a lag of more than a whole list pushes newer posts over its end
	}
}

// verifyFannedOut compares a home or list timeline with the posts of its sources.
func (m *Model) verifyFannedOut(e *Engine, id retwis.TimelineID, reader retwis.UserID, sources map[retwis.UserID]bool, author map[retwis.PostID]retwis.UserID, homeCap, slack int) {
	e.T.Helper()
	var kept, all []retwis.PostID // posts in the list, and including those gathered below it
	var after retwis.Cursor
	for more := true; more; {
		page, err := e.Timelines.Page(e.T.Context(), id, retwis.Page{First: 37, After: after})
		if err != nil {
			e.T.Fatal(err)
		}
		for _, edge := range page.Edges {
			at, err := edge.Cursor.TimelinePosition(id)
			if err != nil {
				e.T.Fatal(err)
			}
			all = append(all, at.Element.ID)
			if !at.Deep {
				kept = append(kept, at.Element.ID)
			}
		}
		more, after = page.HasNextPage, page.EndCursor()
	}
	// Posts of deleted accounts may still have entries in the list.
	shows := m.shows(id, reader, sources)
	sources = maps.Clone(sources)
	maps.Copy(sources, m.Gone)
	made := m.made(sources)
	want := leading(m.shown(e, id, made, shows))
	if !slices.Equal(Newest(all), Newest(want)) {
		e.T.Errorf("%s: missing %v, extra or duplicate %v (of %d)", id, Surplus(want, all), Surplus(all, want), len(want))
	}
	if len(kept) > homeCap+slack {
		e.T.Errorf("%s holds %d entries, want at most %d", id, len(kept), homeCap+slack)
	}
	// Pages gather posts that are older than the list. The newest posts must be in the list
	// itself, in which deleted posts keep their entries. A purge may leave half of a list.
	held := max(0, min(homeCap-slack, homeCap/2, len(made)))
	newest := slices.DeleteFunc(slices.Clone(made[:held]), func(e retwis.Element) bool { return !shows(e) })
	if missing := Surplus(leading(newest), leading(e.Held(id))); len(missing) > 0 {
		e.T.Errorf("%s: not in the list: %v", id, missing)
	}
	last := map[retwis.UserID]retwis.PostID{}
	for _, post := range kept {
		by, ok := author[post]
		if !ok {
			continue // a repost
		}
		if newer, ok := last[by]; ok && newer <= post {
			e.T.Errorf("%s: %s is below %s of the same author", id, post, newer)
		}
		last[by] = post
	}
}

// leading returns the leading ids of elements.
func leading(elements []retwis.Element) []retwis.PostID {
	ids := make([]retwis.PostID, len(elements))
	for i, e := range elements {
		ids[i] = e.ID
	}
	return ids
}

// verifyReplies compares the replies of all posts, also of deleted ones, in both orders.
func (m *Model) verifyReplies(e *Engine) {
	e.T.Helper()
	author := m.authors()
	replies := map[retwis.PostID][]retwis.PostID{}
	var posts []retwis.PostID
	for post := range author {
		posts = append(posts, post)
	}
	for reply, to := range m.replyTo {
		if !m.Deleted[reply] {
			replies[to] = append(replies[to], reply)
		}
	}
	slices.Sort(posts)
	counts, err := e.Posts.ReplyCounts(e.T.Context(), posts)
	if err != nil {
		e.T.Fatal(err)
	}
	for i, post := range posts {
		if counts[i] != len(replies[post]) {
			e.T.Errorf("post %s has %d replies, want %d", post, counts[i], len(replies[post]))
		}
		if len(replies[post]) == 0 {
			continue
		}
		for _, newest := range []bool{false, true} {
			slices.SortFunc(replies[post], func(a, b retwis.PostID) int {
				ofOther := func(id retwis.PostID) int {
					if author[id] == author[post] {
						return 0
					}
					return 1
				}
				order := cmp.Compare(a, b)
				if newest {
					order = -order
				}
				return cmp.Or(cmp.Compare(ofOther(a), ofOther(b)), order)
			})
			m.verifyReferences(e, retwis.References{Kind: retwis.ReplyReference, To: post, Newest: newest}, replies[post])
		}
	}
}

// verifyReferences compares the first page of the replies to a post, or of its quotes.
func (m *Model) verifyReferences(e *Engine, of retwis.References, want []retwis.PostID) {
	e.T.Helper()
	page, err := e.Posts.ReferencePage(e.T.Context(), of, retwis.Page{First: retwis.MaxPageSize})
	if err != nil {
		e.T.Fatal(err)
	}
	var got []retwis.PostID
	for _, edge := range page.Edges {
		got = append(got, edge.Post.ID)
	}
	if want = want[:min(retwis.MaxPageSize, len(want))]; !slices.Equal(got, want) {
		e.T.Errorf("%s of post %s, newest first %t: %v, want %v", of.Kind, of.To, of.Newest, got, want)
	}
}

// verifyQuotes compares the quotes of all posts and their numbers, and what the quotes quote.
func (m *Model) verifyQuotes(e *Engine) {
	e.T.Helper()
	var posts []retwis.PostID
	quotes := map[retwis.PostID][]retwis.PostID{}
	for _, made := range m.Posts {
		posts = append(posts, made...)
	}
	for quote, of := range m.quoted {
		if !m.Deleted[quote] {
			quotes[of] = append(quotes[of], quote)
		}
	}
	slices.Sort(posts)
	got, err := e.Posts.QuoteCounts(e.T.Context(), posts)
	if err != nil {
		e.T.Fatal(err)
	}
	read, err := e.Posts.Posts(e.T.Context(), posts)
	if err != nil {
		e.T.Fatal(err)
	}
	for i, post := range posts {
		if got[i] != len(quotes[post]) {
			e.T.Errorf("post %s has %d quotes, want %d", post, got[i], len(quotes[post]))
		}
		if len(quotes[post]) > 0 {
			slices.SortFunc(quotes[post], func(a, b retwis.PostID) int { return cmp.Compare(b, a) })
			m.verifyReferences(e, retwis.References{Kind: retwis.QuoteReference, To: post, Newest: true}, quotes[post])
		}
		if read[i] != nil && read[i].Quoted != m.quoted[post] {
			e.T.Errorf("post %s quotes %s, want %s", post, read[i].Quoted, m.quoted[post])
		}
	}
}

func (m *Model) verifyLists(e *Engine, owner retwis.UserID) {
	e.T.Helper()
	page, err := e.Lists.ListPage(e.T.Context(), owner, retwis.Page{First: 100})
	if err != nil {
		e.T.Fatal(err)
	}
	var got []retwis.ListID
	for _, edge := range page.Edges {
		got = append(got, edge.List.ID)
		users, total := e.Connection(retwis.ListMembers(edge.List.ID))
		want := m.present(m.members[edge.List.ID])
		if total != len(want) || len(users) != len(want) || slices.ContainsFunc(users, func(id retwis.UserID) bool { return !want[id] }) {
			e.T.Errorf("members of list %s: %v (total %d), want %v", edge.List.ID, users, total, want)
		}
		var pairs []retwis.Membership
		for _, user := range m.People {
			pairs = append(pairs, retwis.Membership{List: edge.List.ID, User: user})
		}
		memberships, err := e.Lists.Memberships(e.T.Context(), pairs)
		if err != nil {
			e.T.Fatal(err)
		}
		for i, pair := range pairs {
			if memberships[i] != want[pair.User] {
				e.T.Errorf("membership of %s in list %s: %t, want %t", pair.User, pair.List, memberships[i], want[pair.User])
			}
		}
	}
	want := slices.Clone(m.lists[owner])
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		e.T.Errorf("lists of %s: %v, want %v", owner, got, want)
	}
}

func (m *Model) verifyFollows(e *Engine, user retwis.UserID) {
	e.T.Helper()
	var following, followers []retwis.UserID
	for author := range m.present(m.Follows[user]) {
		following = append(following, author)
	}
	for reader, authors := range m.Follows {
		if authors[user] && !m.Gone[reader] {
			followers = append(followers, reader)
		}
	}
	for kind, want := range map[retwis.FollowKind][]retwis.UserID{retwis.Followers: followers, retwis.Following: following} {
		got, total := e.Connection(retwis.FollowConnection{Kind: kind, User: user})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || total != len(want) {
			e.T.Errorf("connection %d of %s: %d users (total %d), want %d", kind, user, len(got), total, len(want))
		}
	}
	users, err := e.Accounts.Users(e.T.Context(), []retwis.UserID{user})
	if err != nil {
		e.T.Fatal(err)
	}
	if u := users[0]; u.FollowerCount != len(followers) || u.FollowingCount != len(following) || u.PostCount != len(m.Posted(user)) {
		e.T.Errorf("%s: counts %d %d %d, want %d %d %d", user, u.FollowerCount, u.FollowingCount, u.PostCount,
			len(followers), len(following), len(m.Posted(user)))
	}
}

// Connection reads all pages of a connection. It returns the users and the total count.
func (e *Engine) Connection(of retwis.FollowConnection) ([]retwis.UserID, int) {
	e.T.Helper()
	var all []retwis.UserID
	var after retwis.Cursor
	for {
		page, err := e.Follows.FollowPage(e.T.Context(), of, retwis.Page{First: 7, After: after})
		if err != nil {
			e.T.Fatal(err)
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

// Surplus returns the elements that a contains more often than b, as posts of timelines.
func Surplus[T comparable](a, b []T) []T {
	count := map[T]int{}
	for _, id := range b {
		count[id]++
	}
	var more []T
	for _, id := range a {
		if count[id]--; count[id] < 0 {
			more = append(more, id)
		}
	}
	return more
}
