package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"

	"golang.org/x/sync/singleflight"
)

// Timelines reads and rebuilds timelines: homes, profiles, mentions, lists, hashtags and the public timeline.
type Timelines struct {
	core
	posts    *Posts
	rebuilds singleflight.Group
}

// entry is an entry of a timeline. Its post may have been deleted.
type entry struct {
	element retwis.Element
	deep    bool // below the end of the list: read by id from the profiles of the sources
	hidden  bool // the timeline holds it and does not show it: see lib/visibility.lua
	covered bool // whether the list was read with the changes of the post

	same []retwis.Element // of a repost: the elements directly below it that show the same post

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

// Page returns one page of a timeline, newest first. It skips deleted posts and replies that the timeline does not show, and
// refills the page; after [maxScan] entries it ends early. It rebuilds a missing
// home or list first. Below the end of the stored list of a home or list, it reads the profiles of the sources. It
// returns [retwis.ErrBadCursor] for a cursor of another timeline.
func (s *Timelines) Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	older, count, cursor := page.Direction()
	var from *retwis.TimelinePosition
	if cursor != "" {
		at, err := cursor.TimelinePosition(id)
		if err != nil {
			return retwis.PostPage{}, err
		}
		from = &at
	}
	var w walk
	var related map[retwis.PostID]retwis.Relation
	if id.IsProfile() {
		w = &profileWalk{timelines: s, id: id, from: from, older: older}
	} else {
		list := &listWalk{timelines: s, id: id, from: from, older: older, wantUnread: page.Unread}
		if id.HasMarker() && page.Viewer != 0 { // the reader's partition holds the list, the likes and the reposts
			related = make(map[retwis.PostID]retwis.Relation, count)
			list.viewer, list.related = page.Viewer, related
		}
		w = list
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
	result.Related = related
	return result, nil
}

// Bounds of the refill of a page.
const (
	maxScan  = 2000 // entries that one page reads, about
	scanStep = 200  // entries of a step after the first
)

// found is an entry of a page with its post.
type found struct {
	entry
	*retwis.Post
}

// collect walks until the page is full of posts that exist and are shown. If the first step finds others, further steps
// are larger, because these often come in runs. The first step also reads the posts above the marker.
func (s *Timelines) collect(
	ctx context.Context, w walk, older bool, count int, inside bool, filter int64, known existing,
) (retwis.PostPage, error) {
	var all []found
	var last *entry // the last one scanned
	scanned, more := 0, false
	for ask, end := count+1, false; len(all) <= count && !end; ask = scanStep {
		if scanned >= maxScan {
			more = true
			break
		}
		if scanned > 0 {
			s.metrics.refills.Inc()
		}
		entries, ended, err := w.next(ctx, ask)
		if err != nil {
			return retwis.PostPage{}, err
		}
		if n := len(entries); n > 0 {
			last = &entries[n-1]
		}
		some, err := s.shown(ctx, entries, w, known)
		if err != nil {
			return retwis.PostPage{}, err
		}
		all, scanned, end = append(all, some...), scanned+len(entries), ended
	}
	early := more && len(all) <= count
	if early {
		s.metrics.earlyEnds.WithLabelValues(timelineList).Inc()
	}
	more = more || len(all) > count
	all = all[:min(count, len(all))]
	s.metrics.pages.Observe(float64(len(all)))
	if !older {
		slices.Reverse(all)
	}
	position := w.position()
	position.Filter = filter
	page := retwis.PostPage{LiveCursor: position.Cursor(), Edges: make([]retwis.PostEdge, 0, len(all))}
	for _, f := range all {
		page.Edges = append(page.Edges, retwis.NewPostEdge(f.entry.cursor(position), f.element, f.Post))
	}
	if early {
		page.ScannedTo = last.cursor(position)
	}
	if older {
		page.HasNextPage, page.HasPreviousPage = more, inside
	} else {
		page.HasNextPage, page.HasPreviousPage = inside, more
	}
	return page, nil
}

// cursor returns the cursor of an entry of a timeline.
func (e *entry) cursor(at retwis.TimelinePosition) retwis.Cursor {
	at.Element, at.Deep, at.Older = e.element, e.deep, e.older
	return at.Cursor()
}

// shown returns the entries that the timeline shows and whose posts exist. The first call adds the posts above the marker to
// known, unless that is nil.
func (s *Timelines) shown(ctx context.Context, entries []entry, w walk, known existing) ([]found, error) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.hidden })
	ids, covered := make([]retwis.PostID, len(entries)), make([]bool, len(entries))
	for i, e := range entries {
		ids[i], covered[i] = e.element.Shown(), e.covered
	}
	if known != nil && len(known) == 0 {
		ids, covered = appendShown(ids, covered, w.unread().entries)
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return len(e.same) > 0 || e.element.Reposted != 0 }) {
		ids, covered = appendShown(ids, covered, entries) // each repost once, although several others may be above it
	}
	posts, err := s.posts.listed(ctx, ids, covered)
	if err != nil {
		return nil, err
	}
	exist := make(existing, len(ids))
	for i, post := range posts {
		others, repeated := exist[ids[i]] // the cache may have a post whose deletion is known to the read for its repost
		exist[ids[i]] = post != nil && (others || !repeated)
	}
	if known != nil {
		maps.Copy(known, exist)
	}
	all := make([]found, 0, len(entries))
	for i, post := range posts[:len(entries)] {
		if exist.showsEntry(entries[i]) {
			all = append(all, found{entries[i], post})
		}
	}
	return all, nil
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
	for _, e := range elements {
		w.from = &retwis.TimelinePosition{Element: e}
	}
	entries := w.entriesOf(elements)
	err = markRepeats(entries, func(below retwis.PostID, count int) ([]entry, error) {
		ranges, err := w.timelines.ReadProfiles(ctx, []retwis.UserID{w.id.Owner}, []retwis.PostID{below}, true, count)
		if err != nil {
			return nil, err
		}
		return w.entriesOf(ranges[0]), nil
	})
	return entries, len(elements) < count, err
}

func (w *profileWalk) entriesOf(elements []retwis.Element) []entry {
	entries := make([]entry, len(elements))
	for i, e := range elements {
		entries[i] = entry{element: e, hidden: e.Answered != 0 && w.id.Kind == retwis.ProfileTimeline}
	}
	return entries
}

// Insert inserts posts, newest first, into a timeline that cannot be rebuilt: the public timeline or that of a hashtag. It skips posts
// that the list holds, and those that it would trim.
func (s *Timelines) Insert(ctx context.Context, id retwis.TimelineID, posts []retwis.Element) error {
	p := s.db.OfTimeline(id)
	c := rdb.Call{
		Script: script.InsertPosts, Keys: []string{p.Timeline(id).Entries(), p.Online(), p.OnlineNodes()},
		Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels), s.options.HomeCap},
	}
	if id != retwis.Public() {
		c.Keys = append(c.Keys, p.Timeline(id).Owner())
	}
	for _, post := range posts {
		c.Args = append(c.Args, post.String())
	}
	if err := s.db.Do(ctx, c).Err(); err != nil {
		return fmt.Errorf("insert %d posts into timeline %s: %w", len(posts), id, err)
	}
	return nil
}

// followedAt returns the time of a score of an edge.
func followedAt(score int64) time.Time {
	return time.UnixMicro(score).UTC()
}
