package graph

import (
	"cmp"
	"context"
	"slices"

	"retwis/internal/retwis"
)

func edge(timeline retwis.TimelineID, p *retwis.Post) retwis.PostEdge {
	return retwis.PostEdge{Cursor: retwis.TimelinePosition{Timeline: timeline, Element: retwis.Plain(p.ID)}.Cursor(), Post: p}
}

func (w *fakeBackend) belongs(p *retwis.Post, timeline retwis.TimelineID) bool {
	switch timeline.Kind {
	case retwis.ProfileTimeline, retwis.RepliesTimeline:
		return p.AuthorID == timeline.Owner
	case retwis.MentionsTimeline:
		return slices.Contains(p.Mentions, timeline.Owner)
	case retwis.TagTimeline:
		return slices.Contains(p.Tags, timeline.Tag())
	case retwis.ListTimeline:
		return w.list(timeline.List()).has(p.AuthorID)
	default:
		return true
	}
}

func (w *fakeBackend) Page(_ context.Context, timeline retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	err := w.begin("Page", timeline, " ", page.First, " ", page.Last, " ", page.Unread)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.PostPage{}, err
	}
	var all []retwis.PostEdge
	for _, p := range w.posts {
		if w.belongs(p, timeline) {
			all = append(all, edge(timeline, p))
		}
	}
	for _, r := range w.reposts {
		if w.belongsRepost(r, timeline) {
			all = append(all, w.repostEdge(timeline, r))
		}
	}
	slices.SortFunc(all, func(a, b retwis.PostEdge) int { return cmp.Compare(b.EntryID(), a.EntryID()) })
	live := retwis.TimelinePosition{Timeline: timeline}
	if len(all) > 0 {
		live.Element = retwis.Plain(all[0].EntryID())
	}
	found, more, err := cut(all, page, func(e retwis.PostEdge) retwis.Cursor { return e.Cursor })
	w.viewer = page.Viewer
	var related map[retwis.PostID]retwis.Relation
	if w.known && page.Viewer != 0 {
		related = map[retwis.PostID]retwis.Relation{}
		for _, e := range found {
			id := e.Post.ID
			related[id] = retwis.Relation{Liked: w.findLike(page.Viewer, id) >= 0, Reposted: w.findRepost(page.Viewer, id) >= 0}
		}
	}
	return retwis.PostPage{
		Edges: found, HasNextPage: more.next, HasPreviousPage: more.previous, LiveCursor: live.Cursor(),
		Unread: w.unreadOf(timeline, page.Unread), Related: related,
	}, err
}

// unreadOf counts the posts above the marker of a timeline.
func (w *fakeBackend) unreadOf(timeline retwis.TimelineID, atMost int) retwis.Unread {
	marker := w.markers[timeline]
	unread := retwis.Unread{Marker: retwis.MarkerCursor(timeline, retwis.Plain(marker))}
	for _, p := range w.posts {
		if w.belongs(p, timeline) && p.ID > marker {
			unread.Count = min(unread.Count+1, atMost)
		}
	}
	return unread
}

func (w *fakeBackend) Unread(_ context.Context, timeline retwis.TimelineID, atMost int) (retwis.Unread, error) {
	err := w.begin("Unread", timeline, " ", atMost)
	defer w.mu.Unlock()
	return w.unreadOf(timeline, atMost), err
}

func (w *fakeBackend) MarkRead(_ context.Context, timeline retwis.TimelineID, cursor retwis.Cursor) error {
	err := w.begin("MarkRead", timeline)
	defer w.mu.Unlock()
	at, invalid := cursor.TimelinePosition(timeline)
	if err = cmp.Or(err, invalid); err == nil {
		w.markers[timeline] = max(w.markers[timeline], at.Element.ID)
	}
	return err
}

type more struct{ next, previous bool }

// cut returns a page of a whole connection.
func cut[T any](all []T, page retwis.Page, cursorOf func(T) retwis.Cursor) ([]T, more, error) {
	at := cmp.Or(page.After, page.Before)
	from, to := 0, len(all)
	if at != "" {
		i := slices.IndexFunc(all, func(e T) bool { return cursorOf(e) == at })
		switch {
		case i < 0:
			return nil, more{}, retwis.ErrBadCursor
		case page.First > 0:
			from = i + 1
		default:
			to = i
		}
	}
	if page.First > 0 {
		to = min(to, from+page.First)
	} else {
		from = max(from, to-page.Last)
	}
	return all[from:to], more{next: to < len(all), previous: from > 0}, nil
}

func (w *fakeBackend) Attach(_ context.Context, _ retwis.Subscriber, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error {
	err := w.begin("Attach", timeline, " ", after)
	defer w.mu.Unlock()
	if err == nil {
		w.live[timeline] = sink
	}
	return err
}
