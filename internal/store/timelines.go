package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"retwis/internal/retwis"
)

// entry is one place of a timeline: the post that arrived there, perhaps deleted since.
type entry struct {
	post retwis.PostID
	deep bool // below the list: found by id in the profiles of those followed
}

// walk goes over a timeline in one direction.
type walk interface {
	// next returns up to count entries, nearest first, and whether that was the last.
	next(ctx context.Context, count int) (entries []entry, end bool, err error)
	// stand returns where the timeline stood when the walk began: known after next.
	stand() retwis.TimelinePosition
}

// Page returns one page of a timeline, newest first. Posts deleted since they were
// delivered are left out and the page is refilled. A home that is not there is rebuilt
// first; pages older than what a list keeps are gathered from those followed. A cursor of
// another timeline is [retwis.ErrBadCursor].
func (s *Store) Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
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
		w = &profileWalk{store: s, id: id, from: from, older: older}
	} else {
		w = &listWalk{store: s, id: id, from: from, older: older}
	}
	page0, err := s.collect(ctx, w, older, count, from != nil)
	if err != nil {
		return retwis.PostPage{}, fmt.Errorf("page of timeline %s: %w", id, err)
	}
	return page0, nil
}

// collect walks until a page is full of posts that still exist. Where some do not, many may
// not: it goes on in larger steps.
func (s *Store) collect(ctx context.Context, w walk, older bool, count int, inside bool) (retwis.PostPage, error) {
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
		ids := make([]retwis.PostID, len(entries))
		for i, e := range entries {
			ids[i] = e.post
		}
		posts, err := s.Posts(ctx, ids)
		if err != nil {
			return retwis.PostPage{}, err
		}
		for i, post := range posts {
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
	stand := w.stand()
	page := retwis.PostPage{LiveCursor: stand.Cursor()}
	for _, f := range all {
		at := stand
		at.Post, at.Deep = f.entry.post, f.entry.deep
		page.Edges = append(page.Edges, retwis.PostEdge{Cursor: at.Cursor(), Post: f.Post})
	}
	if older {
		page.HasNextPage, page.HasPreviousPage = more, inside
	} else {
		page.HasNextPage, page.HasPreviousPage = inside, more
	}
	return page, nil
}

// Marks at the end of a list.
const (
	complete = "0" // nothing older exists
	building = "b" // older entries are being gathered
)

// stretch is what the page script returns.
type stretch struct {
	at     retwis.TimelinePosition
	last   string // the list's last entry or mark; '' of a missing list
	from   int    // index of the first entry; -1 when the post asked for is not held
	posts  []retwis.PostID
	bottom bool // the entries reached the mark of completeness
}

// read reads a stretch of a timeline's list. A home that is missing or not finished is
// built first.
func (s *Store) read(ctx context.Context, id retwis.TimelineID, mode string, post retwis.PostID, count int) (stretch, error) {
	for try := 0; ; try++ {
		reply, err := s.do(ctx, s.pageCall(id, mode, post, count)).Slice()
		if err != nil {
			return stretch{}, fmt.Errorf("read a list: %w", err)
		}
		got, err := parseStretch(id, reply)
		if err != nil {
			return stretch{}, fmt.Errorf("read a list: %w", err)
		}
		whole := got.last != "" && got.last != building
		if !id.FannedOut() || whole || try == 3 {
			return got, nil
		}
		if err := s.Rebuild(ctx, id); err != nil && !errors.Is(err, errOvertaken) {
			return stretch{}, err
		}
	}
}

func (s *Store) pageCall(id retwis.TimelineID, mode string, post retwis.PostID, count int) call {
	p := s.ofTimeline(id)
	return call{
		s.scripts.page,
		[]string{p.entries(id), p.generations(id), p.removals(), p.large(), p.onlineNodes()},
		append([]any{mode, post.String(), count}, s.catchUp(id)...),
	}
}

// catchUp are the arguments with which a script that reads a home first puts on it what
// large authors posted.
func (s *Store) catchUp(id retwis.TimelineID) []any {
	p := s.ofTimeline(id)
	return []any{reader(id), p.tag + ":", s.options.HomeCap, s.options.Slack, s.publish, p.livePrefix()}
}

// reader is whose home a timeline is, or nobody's.
func reader(id retwis.TimelineID) string {
	if id.Kind != retwis.HomeTimeline {
		return ""
	}
	return id.Owner.String()
}

func parseStretch(id retwis.TimelineID, reply []any) (stretch, error) {
	if len(reply) != 6 {
		return stretch{}, fmt.Errorf("%d fields", len(reply))
	}
	at, err := standing(id, text(reply[0]), text(reply[1]))
	if err != nil {
		return stretch{}, err
	}
	if at.Post, err = postID(text(reply[2])); err != nil {
		return stretch{}, err
	}
	from, _ := reply[4].(int64)
	got := stretch{at: at, last: text(reply[3]), from: int(from)}
	entries, _ := reply[5].([]any)
	for _, e := range entries {
		switch text(e) {
		case complete:
			got.bottom = true
		case building:
		default:
			post, err := retwis.ParsePostID(text(e))
			if err != nil {
				return stretch{}, err
			}
			got.posts = append(got.posts, post)
		}
	}
	return got, nil
}

// standing reads a generation and a removal as scripts return them.
func standing(id retwis.TimelineID, generation, removal string) (retwis.TimelinePosition, error) {
	at := retwis.TimelinePosition{Timeline: id}
	var err error
	if at.Epoch, err = strconv.ParseInt(generation, 10, 64); err != nil {
		return at, fmt.Errorf("generation %q: %w", generation, err)
	}
	at.Removal, err = parseRemovalID(removal)
	return at, err
}

func parseRemovalID(id string) (retwis.RemovalID, error) {
	millis, seq, _ := strings.Cut(id, "-")
	m, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return retwis.RemovalID{}, fmt.Errorf("stream id %q: %w", id, err)
	}
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return retwis.RemovalID{}, fmt.Errorf("stream id %q: %w", id, err)
	}
	return retwis.RemovalID{Millis: m, Seq: n}, nil
}

// postID reads an entry of a list, where '0' stands for no post.
func postID(s string) (retwis.PostID, error) {
	if s == complete {
		return 0, nil
	}
	return retwis.ParsePostID(s)
}

// profileWalk goes over a user's own posts. Their list is sorted by id, so a place is
// found also where its post is gone.
type profileWalk struct {
	store *Store
	id    retwis.TimelineID
	from  *retwis.TimelinePosition
	older bool

	at      retwis.TimelinePosition
	started bool
}

func (w *profileWalk) stand() retwis.TimelinePosition { return w.at }

func (w *profileWalk) next(ctx context.Context, count int) ([]entry, bool, error) {
	if !w.started {
		now, err := w.store.read(ctx, w.id, "top", 0, 0)
		if err != nil {
			return nil, false, err
		}
		w.at, w.started = now.at, true
	}
	var start retwis.PostID
	if w.from != nil {
		start = w.from.Post
		if start == 0 && w.older {
			return nil, true, nil // below all entries
		}
	}
	stretches, err := w.store.stretches(ctx, []retwis.UserID{w.id.Owner}, []retwis.PostID{start}, w.older, count)
	if err != nil {
		return nil, false, err
	}
	posts := stretches[0]
	if !w.older {
		slices.Reverse(posts)
	}
	entries := make([]entry, len(posts))
	for i, post := range posts {
		entries[i] = entry{post: post}
		w.from = &retwis.TimelinePosition{Post: post}
	}
	return entries, len(posts) < count, nil
}

// stretches reads up to count posts of several profiles, each from a post on, exclusive
// and newest first; 0 starts at the newest, or at the oldest on the way to newer ones.
func (s *Store) stretches(ctx context.Context, authors []retwis.UserID, from []retwis.PostID, older bool, count int) ([][]retwis.PostID, error) {
	const perCall = 50 // bounds how long one call runs
	direction := "older"
	if !older {
		direction = "newer"
	}
	groups := map[partition][]int{}
	for i, author := range authors {
		groups[s.of(author)] = append(groups[s.of(author)], i)
	}
	var calls []call
	var members [][]int
	for p, group := range groups {
		for chunk := range slices.Chunk(group, perCall) {
			c := call{script: s.scripts.profiles, args: []any{direction, count}}
			for _, i := range chunk {
				c.keys = append(c.keys, p.profile(authors[i]))
				start := ""
				if from[i] != 0 {
					start = from[i].String()
				}
				c.args = append(c.args, start)
			}
			calls = append(calls, c)
			members = append(members, chunk)
		}
	}
	found := make([][]retwis.PostID, len(authors))
	for n, result := range s.doAll(ctx, calls) {
		rows, err := result.Slice()
		if err != nil {
			return nil, fmt.Errorf("read profiles: %w", err)
		}
		for k, i := range members[n] {
			row, _ := rows[k].([]any)
			found[i] = make([]retwis.PostID, len(row))
			for j, post := range row {
				if found[i][j], err = retwis.ParsePostID(text(post)); err != nil {
					return nil, fmt.Errorf("read the profile of %s: %w", authors[i], err)
				}
			}
		}
	}
	return found, nil
}

// followedAt is the time of a follow's score.
func followedAt(score int64) time.Time {
	return retwis.TimeOrigin.Add(time.Duration(score) * time.Microsecond)
}
