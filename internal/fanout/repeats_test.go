package fanout_test

import (
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// repeating is a database in which a reader follows an author and two users who repost.
type repeating struct {
	*engine
	t                             *testing.T
	reader, author, first, second retwis.UserID
	held                          []retwis.Element // by the reader's home, newest first, the list and below it
	gone                          map[retwis.PostID]bool
}

func newRepeating(t *testing.T, options store.Options) *repeating {
	t.Helper()
	m := &repeating{engine: newEngine(t, options), t: t, gone: map[retwis.PostID]bool{}}
	m.Work(fanout.Options{})
	people := m.Apart(4)
	m.reader, m.author, m.first, m.second = people[0], people[1], people[2], people[3]
	for _, followed := range people[1:] {
		m.Follow(m.reader, followed)
	}
	m.Drain()
	m.Read(retwis.Home(m.reader))
	return m
}

// add notes that an element is the newest of the home, after it was delivered.
func (m *repeating) add(e retwis.Element) retwis.Element {
	m.t.Helper()
	m.Drain()
	m.held = slices.Insert(m.held, 0, e)
	return e
}

func (m *repeating) post() retwis.Element {
	m.t.Helper()
	return m.add(retwis.Plain(m.Post(m.author, "a post")))
}

func (m *repeating) repost(user retwis.UserID, post retwis.Element) retwis.Element {
	m.t.Helper()
	return m.add(storetest.Repost(m.t, m.Store, user, post.Shown()))
}

func (m *repeating) undo(repost retwis.Element) {
	m.t.Helper()
	if err := m.Posts.UndoRepost(m.t.Context(), repost.Author, repost.Reposted); err != nil {
		m.t.Fatal(err)
	}
	m.gone[repost.ID] = true
	m.Drain()
}

// visible returns what the home shows by the rule.
func (m *repeating) visible() []retwis.Element {
	return enginetest.Shown(m.held, func(e retwis.Element) bool { return !m.gone[e.ID] && !m.gone[e.Shown()] })
}

// verify compares pages in both directions, from everywhere, and the unread posts with the rule.
func (m *repeating) verify() {
	m.t.Helper()
	want := enginetest.PostsOf(m.visible())
	r, home := redistest.Rand(m.t), retwis.Home(m.reader)
	for _, older := range []bool{true, false} {
		got, cursors := m.Walk(r, home, older, "")
		if !older {
			slices.Reverse(got)
			slices.Reverse(cursors)
		}
		if !slices.Equal(got, want) {
			m.t.Errorf("towards older entries %t: the home shows %v, want %v", older, got, want)
			return
		}
		for i, cursor := range cursors {
			rest, _ := m.Walk(r, home, older, cursor)
			expected := want[i+1:]
			if !older {
				slices.Reverse(rest)
				expected = want[:i]
			}
			if !slices.Equal(rest, expected) {
				m.t.Errorf("towards older entries %t from entry %d: %v, want %v", older, i, rest, expected)
			}
		}
	}
	m.IsSound()
}

func TestRepeats_AreNotShownNearTheirPost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newRepeating(t, store.Options{URL: url})
		post := m.post()
		m.repost(m.first, post) // directly above it
		for range 97 {
			m.held = slices.Insert(m.held, 0, retwis.Plain(m.Post(m.author, "another post")))
		}
		m.repost(m.second, post) // at the end of the span
		if len(m.visible()) != 98 {
			t.Fatalf("%d elements are visible, want all but the reposts", len(m.visible()))
		}
		m.verify()
		another := m.post()
		m.post()
		third := m.repost(m.reader, post) // the first two reposts are near enough
		if slices.Contains(m.visible(), third) {
			t.Fatal("a repost near others is visible")
		}
		m.verify()
		m.undo(m.held[len(m.held)-2])
		m.undo(m.held[3])
		if !slices.Contains(m.visible(), third) {
			t.Fatal("a repost without others near it is not visible")
		}
		m.verify()
		m.repost(m.first, another)
		m.gone[another.ID] = true
		if err := m.Posts.DeletePost(t.Context(), m.author, another.ID); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		m.verify()
	})
}

// Below the list, elements come from profiles in the order of their ids.
func TestRepeats_AreNotShownBelowTheList(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newRepeating(t, store.Options{URL: url, HomeCap: 5, Slack: 1})
		post, other := m.post(), m.post()
		first := m.repost(m.first, post)
		m.repost(m.second, post)
		m.repost(m.second, other)
		for range 12 {
			m.post()
		}
		if len(m.visible()) != 14 {
			t.Fatalf("%d elements are visible, want the plain posts", len(m.visible()))
		}
		m.verify()
		m.undo(first)
		m.verify()
		m.gone[post.ID] = true
		if err := m.Posts.DeletePost(t.Context(), m.author, post.ID); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		m.verify()
	})
}

// A reply that a home does not show does not hide a repost of it, nor does the repost of another post.
func TestRepeats_FollowWhatIsShown(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newRepeating(t, store.Options{URL: url})
		stranger := m.Register("stranger")[0]
		question := m.Post(stranger, "a question")
		reply := storetest.Reply(t, m.Store, m.author, question)
		m.Drain()
		storetest.Repost(t, m.Store, m.first, reply.ID)
		m.Drain()
		home := retwis.Home(m.reader)
		if got := m.Read(home); !slices.Equal(got, []retwis.PostID{reply.ID}) {
			t.Errorf("the home shows %v, want the repost of the reply %v", got, reply.ID)
		}
		m.Follow(m.reader, stranger)
		m.Drain()
		got := m.Read(home)
		slices.Sort(got) // the clocks of two partitions may order the two in another way than they were written
		want := []retwis.PostID{question, reply.ID}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the home shows %v, want the reply and the question, each once", got)
		}
		own := m.Post(m.first, "an own post")
		storetest.Repost(t, m.Store, m.first, own)
		m.Drain()
		if got := m.Read(retwis.Profile(m.first)); !slices.Equal(got, []retwis.PostID{own, reply.ID}) {
			t.Errorf("the profile shows %v, want the own post once, and the reply", got)
		}
		m.IsSound()
	})
}

func TestRepeats_AreNotUnread(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newRepeating(t, store.Options{URL: url})
		home := retwis.Home(m.reader)
		m.post()
		page, err := m.Timelines.Page(t.Context(), home, retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Timelines.MarkRead(t.Context(), home, page.Edges[0].Cursor); err != nil {
			t.Fatal(err)
		}
		post := m.Post(m.reader, "a post") // whose home it is in does not matter
		m.Drain()
		undone := storetest.Repost(t, m.Store, m.first, post)
		storetest.Repost(t, m.Store, m.second, post)
		m.Drain()
		unread := func(want int) {
			t.Helper()
			got, err := m.Timelines.Unread(t.Context(), home, 9)
			if err != nil || got.Count != want {
				t.Errorf("%d unread posts, want %d: %v", got.Count, want, err)
			}
			page, err := m.Timelines.Page(t.Context(), home, retwis.Page{First: 2, Unread: 9})
			if err != nil || page.Unread.Count != want {
				t.Errorf("the page has %d unread posts, want %d: %v", page.Unread.Count, want, err)
			}
		}
		unread(1)
		m.undo(undone)
		unread(1)
		if err := m.Posts.DeletePost(t.Context(), m.reader, post); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		unread(0)
	})
}
