package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/fanout"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// marked is a reader whose timelines are marked as read.
type marked struct {
	*engine
	reader, author, other retwis.UserID
}

func newMarked(t *testing.T, options store.Options) *marked {
	t.Helper()
	e := newEngine(t, options)
	e.Work(fanout.Options{})
	people := e.Crowd("user", 3)
	m := &marked{e, people[0], people[1], people[2]}
	e.Follow(m.reader, m.author)
	e.Follow(m.reader, m.other)
	e.Drain()
	return m
}

func (m *marked) must(err error) {
	m.T.Helper()
	if err != nil {
		m.T.Fatal(err)
	}
}

// listen returns the messages about the marker of a timeline.
func (m *marked) listen(ctx context.Context, id retwis.TimelineID) <-chan pubsub.Message {
	m.T.Helper()
	const node = "node"
	messages, joined := make(chan pubsub.Message, 100), make(chan struct{})
	go func() {
		_ = m.Live.Listen(ctx, node, m.Live.PartitionOf(id), func(message pubsub.Message) {
			switch message.Kind {
			case pubsub.Joined:
				close(joined)
			case pubsub.Marked:
				messages <- message
			}
		})
	}()
	<-joined
	_, err := m.Live.SetOnline(ctx, node, []retwis.TimelineID{id}, time.Minute)
	m.must(err)
	return messages
}

// posts makes an author post n times.
func (m *marked) posts(author retwis.UserID, n int) []retwis.PostID {
	posts := make([]retwis.PostID, n)
	for i := range posts {
		posts[i] = m.Post(author, fmt.Sprintf("post %d for @user0", i))
	}
	m.Drain()
	return posts
}

func (m *marked) cursor(id retwis.TimelineID, post retwis.PostID) retwis.Cursor {
	return retwis.TimelinePosition{Timeline: id, Element: retwis.Plain(post)}.Cursor()
}

// wants compares the marker and the unread posts of a timeline, alone and with a page.
func (m *marked) wants(id retwis.TimelineID, what string, marker retwis.PostID, unread int) {
	m.T.Helper()
	ctx := m.T.Context()
	got, err := m.Timelines.Unread(ctx, id, retwis.DefaultUnread)
	m.must(err)
	want := retwis.Unread{Marker: retwis.MarkerCursor(id, retwis.Plain(marker)), Count: unread}
	if !cmp.Equal(got, want) {
		m.T.Errorf("%s: timeline %s: %+v, want marker %s and %d unread posts", what, id, got, marker, unread)
	}
	for _, page := range []retwis.Page{{First: 3}, {First: 100}, {Last: 2}} {
		page.Unread = retwis.DefaultUnread
		read, err := m.Timelines.Page(ctx, id, page)
		m.must(err)
		if !cmp.Equal(read.Unread, want) {
			m.T.Errorf("%s: timeline %s: page %+v has %+v, want %+v", what, id, page, read.Unread, want)
		}
	}
}

func TestMarker_CountsWhatPagesShow(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMarked(t, store.Options{URL: url})
		ctx := t.Context()
		list := m.CreateList(m.reader, m.author)
		timelines := []retwis.TimelineID{retwis.Home(m.reader), retwis.Mentions(m.reader), retwis.ListPosts(list)}
		for _, id := range timelines {
			m.wants(id, "empty", 0, 0)
		}
		posts := m.posts(m.author, 6)
		for _, id := range timelines {
			m.wants(id, "never marked", 0, 6)
			m.must(m.Timelines.MarkRead(ctx, id, m.cursor(id, posts[2])))
			m.wants(id, "marked", posts[2], 3)
			m.must(m.Timelines.MarkRead(ctx, id, m.cursor(id, posts[1])))
			m.wants(id, "marked at an older post", posts[2], 3)
		}
		m.must(m.Posts.DeletePost(ctx, m.author, posts[4]))
		m.must(m.Posts.DeletePost(ctx, m.author, posts[2]))
		m.Drain()
		for _, id := range timelines {
			m.wants(id, "deleted", posts[2], 2)
			page, err := m.Timelines.Page(ctx, id, retwis.Page{First: 10})
			m.must(err)
			m.must(m.Timelines.MarkRead(ctx, id, page.LiveCursor))
			m.wants(id, "read to the head", posts[5], 0)
		}
		m.DeleteAccount(m.reader)
		m.Drain()
		for _, id := range timelines {
			if err := m.Timelines.MarkRead(ctx, id, m.cursor(id, posts[5])); !errors.Is(err, retwis.ErrNotFound) {
				t.Errorf("marking timeline %s of a deleted account: %v", id, err)
			}
		}
	})
}

// The scan ends after 500 entries: more deleted posts may be above older ones.
func TestMarker_BoundsTheScan(t *testing.T) {
	t.Parallel()
	m := newMarked(t, store.Options{URL: redistest.Server(t).URL()})
	home := retwis.Home(m.reader)
	first := m.posts(m.author, 1)[0]
	m.must(m.Timelines.MarkRead(t.Context(), home, m.cursor(home, first)))
	for range retwis.MaxUnreadScan - 1 {
		m.must(m.Posts.DeletePost(t.Context(), m.author, m.Post(m.author, "x")))
	}
	m.Drain()
	m.wants(home, "499 deleted posts", first, 0)
	m.Post(m.author, "the 500th")
	m.Drain()
	m.wants(home, "500 entries", first, retwis.DefaultUnread)
}

// A purge removes the entry at the marker. Read posts stay read, and unread ones unread.
func TestMarker_StaysWhenItsEntryIsPurged(t *testing.T) {
	t.Parallel()
	for _, homeCap := range []int{1000, 7} {
		t.Run(fmt.Sprint("cap ", homeCap), func(t *testing.T) {
			t.Parallel()
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				m := newMarked(t, store.Options{URL: url, HomeCap: homeCap, Slack: 1})
				home := retwis.Home(m.reader)
				kept := m.posts(m.other, 3)
				gone := m.posts(m.author, 2)
				m.posts(m.other, 3)
				m.must(m.Timelines.MarkRead(t.Context(), home, m.cursor(home, gone[1])))
				m.wants(home, "marked", gone[1], 3)
				m.Unfollow(m.reader, m.author)
				m.Drain()
				m.wants(home, "purged", kept[2], 3)
				m.Follow(m.reader, m.author)
				m.Drain()
				m.wants(home, "back-filled", kept[2], 5)
			})
		})
	}
}

func TestMarker_IsFoundByIDAfterTrimAndRebuild(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMarked(t, store.Options{URL: url, HomeCap: 5, Slack: 1})
		home := retwis.Home(m.reader)
		first := m.posts(m.author, 3)
		m.must(m.Timelines.MarkRead(t.Context(), home, m.cursor(home, first[1])))
		m.must(m.Timelines.Recreate(t.Context(), home))
		m.wants(home, "rebuilt", first[1], 1)
		m.posts(m.author, 20)
		got, err := m.Timelines.Unread(t.Context(), home, 100)
		m.must(err)
		if got.Count < 5 || got.Count > 6 {
			t.Errorf("after a trim %d posts are unread, want those on the list", got.Count)
		}
		// A position that is older, or that the list no longer holds, does not move the marker.
		m.must(m.Timelines.MarkRead(t.Context(), home, m.cursor(home, first[0])))
		if again, err := m.Timelines.Unread(t.Context(), home, 100); err != nil || !cmp.Equal(again, got) {
			t.Errorf("an older position changed the marker: %+v, was %+v: %v", again, got, err)
		}
	})
}

func TestMarkRead_RefusesForeignCursors(t *testing.T) {
	t.Parallel()
	m := newMarked(t, store.Options{URL: redistest.Server(t).URL()})
	post := m.posts(m.author, 1)[0]
	ctx, home := t.Context(), retwis.Home(m.reader)
	tests := []struct {
		name     string
		timeline retwis.TimelineID
		cursor   retwis.Cursor
		want     error
	}{
		{"of another timeline", home, m.cursor(retwis.Mentions(m.reader), post), retwis.ErrBadCursor},
		{"malformed", home, "x", retwis.ErrBadCursor},
		{"profile", retwis.Profile(m.reader), m.cursor(retwis.Profile(m.reader), post), retwis.ErrNotFound},
		{"public timeline", retwis.Public(), m.cursor(retwis.Public(), post), retwis.ErrNotFound},
		{"no such user", retwis.Home(99), m.cursor(retwis.Home(99), post), retwis.ErrNotFound},
		{"empty timeline", retwis.Home(m.other), retwis.TimelinePosition{Timeline: retwis.Home(m.other)}.Cursor(), nil},
	}
	for _, tt := range tests {
		if err := m.Timelines.MarkRead(ctx, tt.timeline, tt.cursor); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	// A position that no list has held marks nothing as read that arrives later.
	m.must(m.Timelines.MarkRead(ctx, home, m.cursor(home, retwis.MaxPostID)))
	m.wants(home, "beyond the head", post, 0)
	m.posts(m.author, 2)
	m.wants(home, "beyond the head", post, 2)
}

// Subscribers receive each move once, and a replay has the marker.
func TestMarkRead_AnnouncesTheMarker(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMarked(t, store.Options{URL: url})
		home := retwis.Home(m.reader)
		posts := m.posts(m.author, 3)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		messages := m.listen(ctx, home)
		for _, post := range []retwis.PostID{posts[1], posts[1], posts[0], posts[2]} {
			m.must(m.Timelines.MarkRead(ctx, home, m.cursor(home, post)))
		}
		for _, want := range []retwis.PostID{posts[1], posts[2]} {
			if got := <-messages; got.Element != retwis.Plain(want) || len(got.Recipients) != 1 || got.Recipients[0].Timeline != home {
				t.Errorf("announced %+v, want %s", got, want)
			}
		}
		at, marker, err := m.Live.CurrentPosition(ctx, home)
		m.must(err)
		replay, err := m.Live.EventsSince(ctx, at)
		m.must(err)
		if marker != retwis.Plain(posts[2]) || replay.Marker != marker {
			t.Errorf("the marker is %s, in a replay %s, want %s", marker, replay.Marker, posts[2])
		}
	})
}
