package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// MarkRead moves the marker of a timeline to a position, if that is nearer to the head, and announces it to the subscribers.
// A repeat has no effect. It returns [retwis.ErrBadCursor] for a cursor of another timeline, and [retwis.ErrNotFound] if there is
// no such user or list, or if the timeline has no marker.
func (s *Timelines) MarkRead(ctx context.Context, id retwis.TimelineID, cursor retwis.Cursor) error {
	at, err := cursor.TimelinePosition(id)
	if err != nil {
		return err
	}
	if !id.HasMarker() {
		return retwis.ErrNotFound
	}
	if at.Element.ID == 0 {
		return nil // below all entries
	}
	p := s.db.OfTimeline(id)
	call := rdb.Call{
		Script: script.MarkRead,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Owner(), p.Online(), p.OnlineNodes()},
		Args:   []any{id.String(), at.Element.String(), p.Timeline(id).Marker(), s.db.Publish, p.Prefix(rdb.LiveChannels)},
	}
	for try := 0; ; try++ {
		reply, err := s.db.DoDurably(ctx, call)
		if err != nil {
			return fmt.Errorf("mark timeline %s as read: %w", id, err)
		}
		result, err := reply.Int()
		if err != nil {
			return fmt.Errorf("mark timeline %s as read: %w", id, err)
		}
		switch {
		case result == 1:
			s.metrics.markers.Inc()
			return nil
		case result == -1:
			return retwis.ErrNotFound
		case result == 0 || !id.FannedOut() || try == 3:
			return nil
		}
		if err := s.Rebuild(ctx, id); err != nil && !errors.Is(err, errConcurrentChange) {
			return fmt.Errorf("mark timeline %s as read: %w", id, err)
		}
	}
}

// Unread returns the marker of a timeline, and the number of posts above it that a page would show: up to atMost, which is at
// most [retwis.MaxUnread], or 0 to read the marker only. After [retwis.MaxUnreadScan] entries the number is atMost.
func (s *Timelines) Unread(ctx context.Context, id retwis.TimelineID, atMost int) (retwis.Unread, error) {
	got, err := s.readList(ctx, id, listRequest{mode: "top", marker: true, unread: atMost})
	if err != nil {
		return retwis.Unread{}, fmt.Errorf("read the marker of timeline %s: %w", id, err)
	}
	return s.unread(ctx, id, got.above, existing{}, atMost)
}

// aboveMarker is the marker of a timeline, and the newest entries above it.
type aboveMarker struct {
	marker  retwis.Element // zero if the timeline has none
	entries []entry        // without replies and reposts that the timeline hides
	scanned int            // number of entries read, including those
}

// existing says which posts and reposts exist, of those that were read.
type existing map[retwis.PostID]bool

// has reports whether all posts and reposts were read that decide whether the timeline shows an entry.
func (x existing) has(e entry) bool {
	if _, known := x[e.element.Shown()]; !known {
		return false
	}
	return !slices.ContainsFunc(e.reposts(), func(id retwis.PostID) bool {
		_, known := x[id]
		return !known
	})
}

// shows reports whether the post that an element shows exists and, for a repost, whether it was not undone.
func (x existing) shows(e retwis.Element) bool { return x[e.Shown()] && x[e.ID] }

// unread counts the posts of the newest atMost entries above a marker. If some are deleted or not shown, it reads further
// entries.
func (s *Timelines) unread(ctx context.Context, id retwis.TimelineID, above aboveMarker, known existing, atMost int) (retwis.Unread, error) {
	result := retwis.Unread{Marker: retwis.MarkerCursor(id, above.marker)}
	var err error
	result.Count, err = s.countExisting(ctx, above.entries, known, atMost)
	if err != nil || result.Count >= atMost || above.scanned < atMost {
		return result, err
	}
	got, err := s.readList(ctx, id, listRequest{mode: "top", unread: retwis.MaxUnreadScan})
	if err != nil {
		return result, fmt.Errorf("count the unread posts of timeline %s: %w", id, err)
	}
	result.Marker = retwis.MarkerCursor(id, got.above.marker)
	result.Count, err = s.countExisting(ctx, got.above.entries, known, atMost)
	if got.above.scanned >= retwis.MaxUnreadScan {
		result.Count = atMost
	}
	return result, err
}

// countExisting counts the entries whose posts exist, up to atMost. It reads posts that are not known.
func (s *Timelines) countExisting(ctx context.Context, entries []entry, known existing, atMost int) (int, error) {
	count := 0
	for some := range slices.Chunk(entries, retwis.MaxPageSize) {
		missing, covered := appendShown(nil, nil, slices.DeleteFunc(slices.Clone(some), known.has))
		posts, err := s.posts.listed(ctx, missing, covered)
		if err != nil {
			return 0, fmt.Errorf("count unread posts: %w", err)
		}
		for i, post := range posts {
			known[missing[i]] = post != nil
		}
		for _, e := range some {
			if known.showsEntry(e) {
				count++
			}
		}
		if count >= atMost {
			return atMost, nil
		}
	}
	return count, nil
}

// appendShown appends the posts that entries of a list show, without those that are there already, and whether the cache may
// have them.
func appendShown(ids []retwis.PostID, covered []bool, entries []entry) ([]retwis.PostID, []bool) {
	there := make(map[retwis.PostID]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	add := func(id retwis.PostID, mayBeCached bool) {
		if !there[id] {
			there[id] = true
			ids, covered = append(ids, id), append(covered, mayBeCached)
		}
	}
	for _, e := range entries {
		add(e.element.Shown(), e.element.Reposted == 0)
		for _, repost := range e.reposts() {
			add(repost, false)
		}
	}
	return ids, covered
}
