package enginetest

import (
	"cmp"
	"maps"
	"slices"

	"retwis/internal/retwis"
	"retwis/internal/store/inspect"
)

// made returns the elements of all posts and reposts of users, including deleted ones, newest first.
func (m *Model) made(users map[retwis.UserID]bool) []retwis.Element {
	author := m.authors()
	var all []retwis.Element
	for user := range users {
		for _, post := range m.Posts[user] {
			answered := author[m.replyTo[post]]
			if answered == user {
				answered = 0
			}
			all = append(all, retwis.NewElement(post, user, answered, 0))
		}
		all = append(all, m.reposts[user]...)
	}
	slices.SortFunc(all, func(a, b retwis.Element) int { return cmp.Compare(b.ID, a.ID) })
	return all
}

// existing returns a function that reports whether an element shows an existing post, of an existing account, and is not an undone repost.
func (m *Model) existing() func(retwis.Element) bool {
	author := m.authors()
	return func(e retwis.Element) bool {
		return !m.Deleted[e.ID] && !m.Deleted[e.Shown()] && !m.Gone[author[e.Shown()]]
	}
}

// kept returns the undeleted posts among posts.
func (m *Model) kept(posts []retwis.PostID) []retwis.PostID {
	return slices.DeleteFunc(slices.Clone(posts), func(post retwis.PostID) bool { return m.Deleted[post] })
}

// present returns the users who have an account.
func (m *Model) present(users map[retwis.UserID]bool) map[retwis.UserID]bool {
	users = maps.Clone(users)
	maps.DeleteFunc(users, func(id retwis.UserID, _ bool) bool { return m.Gone[id] })
	return users
}

// sources returns the users whose posts a home receives.
func (m *Model) sources(reader retwis.UserID) map[retwis.UserID]bool {
	all := maps.Clone(m.Follows[reader])
	all[reader] = true
	return all
}

// Home returns the definition of a home without its cap: the undeleted posts of the reader and of the users with an
// account whom the reader follows, and those that they repost, newest first, without replies to others and repeats. The repeats depend on
// the order of the stored list.
func (m *Model) Home(e *Engine, reader retwis.UserID) []retwis.Element {
	shown := m.shown(e, retwis.Home(reader), m.made(m.present(m.sources(reader))), m.shows(retwis.Home(reader), reader, m.Follows[reader]))
	slices.SortFunc(shown, func(a, b retwis.Element) int { return cmp.Compare(b.ID, a.ID) })
	return shown
}

// shows returns a function that reports whether a home or list of a reader with these sources shows an element, apart from the rule about
// repeats.
func (m *Model) shows(id retwis.TimelineID, reader retwis.UserID, sources map[retwis.UserID]bool) func(retwis.Element) bool {
	exists := m.existing()
	return func(e retwis.Element) bool {
		concerns := e.Answered == 0 || e.Author == reader || e.Answered == reader || sources[e.Answered] && !m.Gone[e.Answered]
		hidden := id.Kind == retwis.HomeTimeline && e.Reposted != 0 && m.hides[reader][e.Author]
		return concerns && !hidden && exists(e)
	}
}

// shown returns the elements that a home or list shows of those that it should hold, in the order of its pages: those of the stored
// list, then the others in the order of their ids.
func (m *Model) shown(e *Engine, id retwis.TimelineID, elements []retwis.Element, shows func(retwis.Element) bool) []retwis.Element {
	e.T.Helper()
	should := map[retwis.Element]bool{}
	for _, element := range elements {
		should[element] = true
	}
	list := e.Held(id)
	inList := map[retwis.Element]bool{}
	for _, element := range list {
		inList[element] = true
	}
	// Profiles hold the reposts of deleted posts.
	older := slices.DeleteFunc(slices.Clone(elements), func(element retwis.Element) bool { return inList[element] || m.Deleted[element.ID] })
	return slices.Concat(
		Shown(list, func(element retwis.Element) bool { return should[element] && shows(element) }), Shown(older, shows))
}

// Held returns the elements of the list of a timeline, newest first.
func (e *Engine) Held(id retwis.TimelineID) []retwis.Element {
	e.T.Helper()
	list, err := inspect.NewInspector(e.Store).TimelineRecord(e.T.Context(), id)
	if err != nil {
		e.T.Fatal(err)
	}
	return list.Entries
}

// Posted returns the undeleted posts of an author, newest first, with all replies.
func (m *Model) Posted(author retwis.UserID) []retwis.PostID {
	return m.kept(Newest(m.Posts[author]))
}

// Profile returns the posts that the profile of a user shows, newest first, with or without replies to others. A profile holds no deleted
// posts.
func (m *Model) Profile(user retwis.UserID, replies bool) []retwis.PostID {
	held := slices.DeleteFunc(m.made(map[retwis.UserID]bool{user: true}), func(e retwis.Element) bool { return m.Deleted[e.ID] })
	exists := m.existing()
	return PostsOf(Shown(held, func(e retwis.Element) bool { return exists(e) && (replies || e.Answered == 0) }))
}

func (m *Model) authors() map[retwis.PostID]retwis.UserID {
	of := map[retwis.PostID]retwis.UserID{}
	for author, posts := range m.Posts {
		for _, post := range posts {
			of[post] = author
		}
	}
	return of
}
