package fanout_test

import (
	"errors"
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// reposting is a database in which a reader follows a reposter, but not the author of a post.
type reposting struct {
	*engine
	reader, reposter, author retwis.UserID
	post                     retwis.PostID
}

func newReposting(t *testing.T, url string) *reposting {
	m := &reposting{engine: newEngine(t, store.Options{URL: url, DeletedAccountTTL: enginetest.ShortAccountTTL})}
	m.Work(fanout.Options{})
	people := m.Register("reader", "reposter", "author")
	m.reader, m.reposter, m.author = people[0], people[1], people[2]
	m.Follow(m.reader, m.reposter)
	m.Read(retwis.Home(m.reader))
	m.post = m.Post(m.author, "a post")
	m.Drain()
	return m
}

// shows compares the pages of timelines that receive the reposts with posts.
func (m *reposting) shows(want ...retwis.PostID) {
	m.T.Helper()
	for _, id := range []retwis.TimelineID{retwis.Home(m.reader), retwis.Home(m.reposter), retwis.Profile(m.reposter)} {
		if got := m.Read(id); !slices.Equal(got, want) {
			m.T.Errorf("%s shows %v, want %v", id, got, want)
		}
	}
}

// replays compares the replay of the reader's home with one entry, which is hidden or not.
func (m *reposting) replays(from retwis.TimelinePosition, want retwis.Element, hidden bool) {
	m.T.Helper()
	replay, err := m.Live.EventsSince(m.T.Context(), from)
	if err != nil || len(replay.Arrived) != 1 || replay.Arrived[0].Element != want || replay.Arrived[0].Hidden != hidden {
		m.T.Errorf("replayed %v, want %s, hidden %t: %v", replay.Arrived, want, hidden, err)
	}
}

func (m *reposting) undo(post retwis.PostID) {
	m.T.Helper()
	if err := m.Posts.UndoRepost(m.T.Context(), m.reposter, post); err != nil {
		m.T.Fatal(err)
	}
	m.Drain()
}

func TestReposts_AreDeliveredOnceAndUndone(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		before, _, err := m.Live.CurrentPosition(t.Context(), retwis.Home(m.reader))
		if err != nil {
			t.Fatal(err)
		}
		first := storetest.Repost(t, m.Store, m.reposter, m.post)
		for _, again := range []retwis.PostID{m.post, first.ID} { // a repost of a repost is one of its original
			if e := storetest.Repost(t, m.Store, m.reposter, again); e != first {
				t.Errorf("a repeat of repost %s made %s", first, e)
			}
		}
		m.Drain()
		m.shows(m.post)
		if unread, err := m.Timelines.Unread(t.Context(), retwis.Home(m.reader), 9); err != nil || unread.Count != 1 {
			t.Errorf("%d unread posts, want the repost: %v", unread.Count, err)
		}
		if got := m.Read(retwis.Public()); !slices.Equal(got, []retwis.PostID{m.post}) {
			t.Errorf("the public timeline shows %v, want the post once", got)
		}
		users, err := m.Accounts.Users(t.Context(), []retwis.UserID{m.reposter})
		if err != nil || users[0].PostCount != 0 {
			t.Errorf("the reposter has %d posts, want none: %v", users[0].PostCount, err)
		}
		m.IsSound()

		m.replays(before, first, false)
		m.undo(m.post)
		m.undo(m.post) // no effect
		m.replays(before, first, true)
		m.shows()
		if unread, err := m.Timelines.Unread(t.Context(), retwis.Home(m.reader), 9); err != nil || unread.Count != 0 {
			t.Errorf("%d unread posts after the undo, want none: %v", unread.Count, err)
		}
		if got := m.Read(retwis.Profile(m.author)); !slices.Equal(got, []retwis.PostID{m.post}) {
			t.Errorf("the author's profile shows %v after the undo, want the post", got)
		}
		if second := storetest.Repost(t, m.Store, m.reposter, m.post); second == first {
			t.Error("a new repost after an undo has the id of the old one")
		}
		m.Drain()
		m.shows(m.post)
		m.IsSound()
	})
}

func TestReposts_NeedAPost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		repost := storetest.Repost(t, m.Store, m.reposter, m.post)
		own := storetest.Repost(t, m.Store, m.author, m.post)
		if err := m.Posts.DeletePost(t.Context(), m.reposter, repost.ID); !errors.Is(err, retwis.ErrPostNotFound) {
			t.Errorf("deleting a repost as a post: %v, want %v", err, retwis.ErrPostNotFound)
		}
		if posts, err := m.Posts.Posts(t.Context(), []retwis.PostID{repost.ID}); err != nil || posts[0] != nil {
			t.Errorf("a repost was read as the post %v: %v", posts[0], err)
		}
		if err := m.Posts.DeletePost(t.Context(), m.author, m.post); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		m.shows() // the reposts of a deleted post
		for _, missing := range []retwis.PostID{m.post, repost.ID, own.ID, m.post + 1_000_000} {
			if _, err := m.Posts.Repost(t.Context(), m.reader, missing); !errors.Is(err, retwis.ErrPostNotFound) {
				t.Errorf("a repost of %s: %v, want %v", missing, err, retwis.ErrPostNotFound)
			}
		}
		if got := storetest.Entries(t, m.Store, retwis.Profile(m.reader)); len(got) > 0 {
			t.Errorf("the refused reposts left the entries %v", got)
		}
		m.undo(m.post) // also of a deleted post
		m.IsSound()
	})
}

func TestReposts_LeaveWithTheirAccount(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		storetest.Repost(t, m.Store, m.reposter, m.post)
		m.Drain()
		if err := m.Accounts.DeleteAccount(t.Context(), m.reposter, "x"); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		if got := m.Read(retwis.Home(m.reader)); len(got) > 0 {
			t.Errorf("the home shows %v, reposted by a deleted account", got)
		}
		m.NothingIsLeftOf(m.reposter)
		m.IsSound()
	})
}
