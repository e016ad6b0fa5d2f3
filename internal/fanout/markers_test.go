package fanout_test

import (
	"slices"

	"pgregory.net/rapid"

	"retwis/internal/retwis"
	"retwis/internal/store/inspect"
)

// readEntries are the entries of a home when its owner marked it as read. A post may change from unread to read without a mark:
// a page shows it at its own entry once the list holds that, and no longer at an entry of a repost above the marker.
type readEntries struct{ read, unread map[retwis.Element]bool }

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
	list, above := s.unreadEntries(home, after.Marker)
	marked := readEntries{map[retwis.Element]bool{}, map[retwis.Element]bool{}}
	for i, e := range list {
		if i < above {
			marked.unread[e] = true
		} else {
			marked.read[e] = true
		}
	}
	s.marked[user] = marked
}

// unreadEntries returns the entries of a list, and how many of them are above a marker.
func (s *sequence) unreadEntries(id retwis.TimelineID, marker *retwis.Cursor) (list []retwis.Element, above int) {
	record, err := inspect.NewInspector(s.Store).TimelineRecord(s.T.Context(), id)
	s.expect(err)
	above = len(record.Entries)
	if marker == nil {
		return record.Entries, above
	}
	at, err := marker.TimelinePosition(id)
	s.expect(err)
	if held := slices.Index(record.Entries, at.Element); held >= 0 {
		return record.Entries, held
	}
	for above > 0 && record.Entries[above-1].ID < at.Element.ID {
		above--
	}
	return record.Entries, above
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
		list, above := s.unreadEntries(home, got.Marker)
		want, shown := 0, s.m.Home(s.Engine, user)
		for _, e := range list[:above] {
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
		for i, e := range list {
			if i < above && marked.read[e] || i >= above && marked.unread[e] {
				s.T.Errorf("home of %s: entry %s was read: %t, and changed without a mark", user, e, marked.read[e])
			}
		}
	}
}
