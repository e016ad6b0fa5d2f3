package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"retwis/internal/retwis"

	"golang.org/x/sync/singleflight"
)

// Timelines reads and rebuilds timelines: homes, profiles, mentions, lists and the public timeline.
type Timelines struct {
	core
	posts    *Posts
	rebuilds singleflight.Group
}

// entry is an entry of a timeline. Its post may have been deleted.
type entry struct {
	element retwis.Element
	deep    bool // below the end of the list: read by id from the profiles of the sources
	covered bool // whether the list was read with the changes of the post

	older [retwis.CursorReserve]retwis.Element // the next older entries of the list
}

// walk reads a timeline in one direction.
type walk interface {
	// next returns up to count entries, nearest first, and whether there are no more.
	next(ctx context.Context, count int) (entries []entry, end bool, err error)
	// position returns the position of the timeline when the walk began. Call it after next.
	position() retwis.TimelinePosition
	// unread returns what the walk has read above the marker, if it was asked to. Call it after next.
	unread() aboveMarker
}

// Page returns one page of a timeline, newest first. It skips deleted posts and refills the page. It rebuilds a missing
// home or list first. Below the end of the stored list of a home or list, it reads the profiles of the sources. It
// returns [retwis.ErrBadCursor] for a cursor of another timeline.
func (s *Timelines) Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	older, count, cursor := true, page.First, page.After
	if page.Last > 0 {
		older, count, cursor = false, page.Last, page.Before
	}
	var from *retwis.TimelinePosition
	if cursor != "" {
		at, err := cursor.TimelinePosition(id)
		if err != nil {
			return retwis.PostPage{}, err
		}
		from = &at
	}
	var w walk
	if id.Kind == retwis.ProfileTimeline {
		w = &profileWalk{timelines: s, id: id, from: from, older: older}
	} else {
		w = &listWalk{timelines: s, id: id, from: from, older: older, wantUnread: page.Unread}
	}
	var known existing
	if page.Unread > 0 {
		known = existing{}
	}
	result, err := s.collect(ctx, w, older, count, from != nil, page.FilterEpoch, known)
	if err == nil && page.Unread > 0 {
		result.Unread, err = s.unread(ctx, id, w.unread(), known, page.Unread)
	}
	if err != nil {
		return retwis.PostPage{}, fmt.Errorf("read a page of timeline %s: %w", id, err)
	}
	return result, nil
}

// collect walks until the page is full of existing posts. If the first step finds deleted posts, further steps are
// larger, because deleted posts often come in runs. The first step also reads the posts above the marker.
func (s *Timelines) collect(
	ctx context.Context, w walk, older bool, count int, inside bool, filter int64, known existing,
) (retwis.PostPage, error) {
	type found struct {
		entry
		*retwis.Post
	}
	var all []found
	ask := count + 1
	first := true
	for end := false; len(all) <= count && !end; ask = retwis.MaxPageSize {
		if !first {
			s.metrics.refills.Inc()
		}
		first = false
		var entries []entry
		var err error
		if entries, end, err = w.next(ctx, ask); err != nil {
			return retwis.PostPage{}, err
		}
		ids, covered := make([]retwis.PostID, len(entries)), make([]bool, len(entries))
		for i, e := range entries {
			ids[i], covered[i] = e.element.Shown(), e.covered
		}
		if known != nil && len(known) == 0 {
			ids, covered = appendShown(ids, covered, w.unread().entries)
		}
		posts, err := s.posts.listed(ctx, ids, covered)
		if err != nil {
			return retwis.PostPage{}, err
		}
		if known != nil {
			for i, post := range posts {
				known[ids[i]] = post != nil
			}
		}
		for i, post := range posts[:len(entries)] {
			if post != nil {
				all = append(all, found{entries[i], post})
			}
		}
	}
	more := len(all) > count
	all = all[:min(count, len(all))]
	s.metrics.pages.Observe(float64(len(all)))
	if !older {
		slices.Reverse(all)
	}
	position := w.position()
	position.Filter = filter
	page := retwis.PostPage{LiveCursor: position.Cursor()}
	for _, f := range all {
		at := position
		at.Element, at.Deep, at.Older = f.entry.element, f.entry.deep, f.entry.older
		page.Edges = append(page.Edges, retwis.PostEdge{Cursor: at.Cursor(), Post: f.Post})
	}
	if older {
		page.HasNextPage, page.HasPreviousPage = more, inside
	} else {
		page.HasNextPage, page.HasPreviousPage = inside, more
	}
	return page, nil
}

// profileWalk walks the posts of a user. A profile is sorted by id, so it can continue after a deleted post.
type profileWalk struct {
	timelines *Timelines
	id        retwis.TimelineID
	from      *retwis.TimelinePosition
	older     bool

	at      retwis.TimelinePosition
	started bool
}

func (w *profileWalk) position() retwis.TimelinePosition { return w.at }

func (w *profileWalk) unread() aboveMarker { return aboveMarker{} }

func (w *profileWalk) next(ctx context.Context, count int) ([]entry, bool, error) {
	if !w.started {
		now, err := w.timelines.readList(ctx, w.id, listRequest{mode: "top"})
		if err != nil {
			return nil, false, err
		}
		w.at, w.started = now.at, true
	}
	var start retwis.PostID
	if w.from != nil {
		start = w.from.Element.ID
		if start == 0 && w.older {
			return nil, true, nil // below all entries
		}
	}
	ranges, err := w.timelines.ReadProfiles(ctx, []retwis.UserID{w.id.Owner}, []retwis.PostID{start}, w.older, count)
	if err != nil {
		return nil, false, err
	}
	elements := ranges[0]
	if !w.older {
		slices.Reverse(elements)
	}
	entries := make([]entry, len(elements))
	for i, e := range elements {
		entries[i] = entry{element: e}
		w.from = &retwis.TimelinePosition{Element: e}
	}
	return entries, len(elements) < count, nil
}

// followedAt returns the time of a score of an edge.
func followedAt(score int64) time.Time {
	return time.UnixMicro(score).UTC()
}
