package fanout_test

import (
	"slices"

	"pgregory.net/rapid"

	"retwis/internal/retwis"
	"retwis/internal/store/inspect"
)

// readPosts are the posts of a home when its owner marked it as read.
type readPosts struct{ read, unread map[retwis.PostID]bool }

// mark marks a home as read up to one of its newest posts.
func (s *sequence) mark(t *rapid.T, user retwis.UserID) {
	ctx, home := s.T.Context(), retwis.Home(user)
	before, err := s.Timelines.Unread(ctx, home, retwis.MaxUnread)
	s.expect(err)
	page, err := s.Timelines.Page(ctx, home, retwis.Page{First: 6})
	s.expect(err)
	if len(page.Edges) == 0 {
		t.Skip("the home is empty")
	}
	above := rapid.IntRange(0, len(page.Edges)-1).Draw(t, "posts above")
	cursor := page.Edges[above].Cursor
	if at, err := cursor.TimelinePosition(home); err != nil || at.Deep {
		s.expect(err)
		t.Skip("the post is below the list")
	}
	s.expect(s.Timelines.MarkRead(ctx, home, cursor))
	after, err := s.Timelines.Unread(ctx, home, retwis.MaxUnread)
	s.expect(err)
	if want := min(above, before.Count); after.Count != want {
		s.T.Errorf("home of %s: %d posts are unread after a mark below %d posts, want %d", user, after.Count, above, want)
	}
	now := s.Read(home)
	marked := readPosts{map[retwis.PostID]bool{}, map[retwis.PostID]bool{}}
	for i, post := range now {
		if i < after.Count {
			marked.unread[post] = true
		} else {
			marked.read[post] = true
		}
	}
	s.marked[user] = marked
}

// verifyMarkers compares the numbers of unread posts with the lists, whose entries above the marker are unread if the home shows them. A home that
// is never trimmed or built again keeps what was read and unread when it was marked.
func (s *sequence) verifyMarkers() {
	ctx := s.T.Context()
	for _, user := range s.m.People {
		if s.m.HasLeft(user) {
			continue
		}
		home := retwis.Home(user)
		got, err := s.Timelines.Unread(ctx, home, retwis.MaxUnread)
		s.expect(err)
		list, err := inspect.NewInspector(s.Store).TimelineRecord(ctx, home)
		s.expect(err)
		place := len(list.Entries)
		if got.Marker != nil {
			at, err := got.Marker.TimelinePosition(home)
			s.expect(err)
			if place = slices.Index(list.Entries, at.Element); place < 0 {
				place = len(list.Entries)
				for place > 0 && list.Entries[place-1].ID < at.Element.ID {
					place--
				}
			}
		}
		want, shown := 0, s.m.Home(s.Engine, user)
		for _, e := range list.Entries[:place] {
			if slices.Contains(shown, e) {
				want++
			}
		}
		if got.Count != min(want, retwis.MaxUnread) {
			s.T.Errorf("home of %s: %d posts are unread, want %d", user, got.Count, want)
		}
		marked, known := s.marked[user]
		if !known || !s.roomForAll {
			continue
		}
		for i, post := range s.Read(home) {
			if i < got.Count && marked.read[post] || i >= got.Count && marked.unread[post] {
				s.T.Errorf("home of %s: post %s was read: %t, and changed without a mark", user, post, marked.read[post])
			}
		}
	}
}
