package store

import (
	"context"
	"slices"

	"retwis/internal/retwis"
)

// listWalk walks a timeline whose list is in order of arrival, and continues below the end of the list with older
// posts, which it reads by id from the profiles of the sources.
//
// The order is: the list, then by id all posts that the list does not hold, except those that may still arrive on it.
// Usually these are older than the whole list. But many posts that arrive late can displace newer ones from it.
type listWalk struct {
	timelines *Timelines
	id        retwis.TimelineID
	from      *retwis.TimelinePosition
	older     bool

	wantUnread int           // unread entries to read with the first range
	viewer     retwis.UserID // whose likes and reposts are added to related; 0 not to read them
	related    map[retwis.PostID]retwis.Relation

	at      retwis.TimelinePosition
	started bool
	above   aboveMarker
	tail    *tailWalk // set once the walk no longer reads the list by index
}

func (w *listWalk) position() retwis.TimelinePosition { return w.at }

func (w *listWalk) unread() aboveMarker { return w.above }

func (w *listWalk) next(ctx context.Context, count int) ([]entry, bool, error) {
	if w.tail != nil {
		return w.tail.next(ctx, count)
	}
	got, err := w.nextRange(ctx, count)
	if err != nil {
		return nil, false, err
	}
	if !w.started {
		w.at, w.started, w.above = got.at, true, got.above
	}
	if !got.found {
		if w.tail, err = w.afterLostEntry(ctx); err != nil {
			return nil, false, err
		}
		return w.tail.next(ctx, count)
	}
	entries := entriesOf(got.entries, got.below)
	for i, e := range entries {
		entries[i].hidden, entries[i].same = got.hidden[i], got.same[i]
		if w.viewer != 0 {
			w.related[e.element.Shown()] = got.related[i]
		}
		entries[i].covered = e.element.Reposted == 0 // the partition need not receive the changes of a post that is reposted
	}
	if !w.older {
		slices.Reverse(entries)
	}
	if n := len(entries); n > 0 {
		w.from = &retwis.TimelinePosition{Element: entries[n-1].element, Older: entries[n-1].older}
	}
	switch {
	case len(entries) == count:
		return entries, false, nil
	case !w.older || got.bottom || got.last == "" || !w.id.FannedOut():
		return entries, true, nil
	case w.from != nil && w.from.Element.ID == 0:
		return entries, true, nil // below all entries
	default:
		w.tail, err = w.belowList(ctx)
		return entries, false, err
	}
}

// entriesOf returns entries of a list, newest first, each with the next older entries. below are the entries after
// the last one.
func entriesOf(elements, below []retwis.Element) []entry {
	all := slices.Concat(elements, below)
	entries := make([]entry, len(elements))
	for i, e := range elements {
		entries[i].element = e
		copy(entries[i].older[:], all[i+1:])
	}
	return entries
}

// nextRange reads the next entries of the list by index.
func (w *listWalk) nextRange(ctx context.Context, count int) (listRange, error) {
	of := listRequest{count: count, viewer: w.viewer}
	if !w.started {
		of.unread = w.wantUnread
	}
	switch {
	case w.older && w.from == nil:
		of.mode = "top"
	case w.older && w.from.Element.ID == 0:
		of.mode, of.count = "top", 0
	case w.older:
		of.mode, of.from = "after", w.candidates()
	default:
		of.mode, of.from = "before", w.candidates()
	}
	return w.timelines.readList(ctx, w.id, of)
}

// candidates returns the entries to continue at: the entry of the cursor and the next older ones. Without a cursor it
// returns the zero element, whose string is the mark at the end of a complete list.
func (w *listWalk) candidates() []retwis.Element {
	if w.from == nil {
		return []retwis.Element{{}}
	}
	return append([]retwis.Element{w.from.Element}, w.from.OlderEntries()...)
}

// belowList returns the walk that continues below the end of the list.
func (w *listWalk) belowList(ctx context.Context) (*tailWalk, error) {
	t, err := w.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	t.list = nil
	t.bound = retwis.MaxPostID
	return t, nil
}

// afterLostEntry returns the walk that continues by id after an entry that the list no longer holds.
func (w *listWalk) afterLostEntry(ctx context.Context) (*tailWalk, error) {
	t, err := w.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var from retwis.PostID
	deep := false
	if w.from != nil {
		from, deep = w.from.Element.ID, w.from.Deep
	}
	// The index of the entry is the first below which all entries are older.
	index := len(t.list)
	for index > 0 && t.list[index-1].ID < from {
		index--
	}
	if deep || from == 0 {
		index = len(t.list)
	}
	if w.older {
		t.list, t.bound = t.list[index:], from
		if w.from.Epoch != w.at.Epoch {
			t.hold(t.list) // the reader may not have seen these entries
		}
		t.held[from] = true
		for _, next := range w.from.Older { // which are newer if their authors lagged less
			t.bound = max(t.bound, next.ID+1)
		}
		if !deep { // late entries may have displaced newer ones that were below this one; others come again
			t.bound = max(t.bound, t.displaced+1)
		}
		return t, nil
	}
	inDeep := index == len(t.list) && !t.whole
	t.list = t.list[:index]
	slices.Reverse(t.list)
	if inDeep && t.deep {
		t.climb, t.bound = true, from
	}
	return t, nil
}

// snapshot returns a walk over the whole list, held in memory.
func (w *listWalk) snapshot(ctx context.Context) (*tailWalk, error) {
	newestOwn, err := w.newestOwn(ctx)
	if err != nil {
		return nil, err
	}
	all, err := w.timelines.readList(ctx, w.id, listRequest{mode: "all"})
	if err != nil {
		return nil, err
	}
	t := &tailWalk{
		timelines: w.timelines,
		id:        w.id,
		older:     w.older,
		list:      all.entries,
		hidden:    map[retwis.Element]bool{},
		same:      map[retwis.Element][]retwis.Element{},
		reader:    all.reader,
		whole:     all.bottom || all.last == "",
		deep:      w.id.FannedOut() && !all.bottom && all.last != "",
		newestOwn: newestOwn,
		displaced: all.displaced,
		origins:   origins{},
	}
	t.hold(all.entries)
	for i, e := range all.entries {
		if all.hidden[i] {
			t.hidden[e] = true
		}
		if all.same[i] != nil {
			t.same[e] = all.same[i]
		}
		t.newest = max(t.newest, e.ID)
	}
	return t, nil
}

// newestOwn returns the leading id of the last post or repost of the owner of a home, 0 for none and for other timelines.
func (w *listWalk) newestOwn(ctx context.Context) (retwis.PostID, error) {
	if w.id.Kind != retwis.HomeTimeline {
		return 0, nil
	}
	ranges, err := w.timelines.ReadProfiles(ctx, []retwis.UserID{w.id.Owner}, []retwis.PostID{0}, true, 1)
	if err != nil || len(ranges[0]) == 0 {
		return 0, err
	}
	return ranges[0][0].ID, nil
}

// tailWalk walks the rest of a list, held in memory, and the older posts.
type tailWalk struct {
	timelines *Timelines
	id        retwis.TimelineID
	older     bool

	list      []retwis.Element                    // remaining entries, nearest first
	hidden    map[retwis.Element]bool             // entries of the list that the timeline does not show
	same      map[retwis.Element][]retwis.Element // of reposts: see [entry]
	reader    retwis.UserID                       // the owner of the home or list
	held      map[retwis.PostID]bool              // leading ids of the list: skipped among the older posts
	newest    retwis.PostID                       // the highest leading id of the list, 0 if it is empty
	newestOwn retwis.PostID                       // of a home: the leading id of its owner's last post or repost, read before the list; 0 if there is none
	displaced retwis.PostID                       // the greatest id that the list lost below a late entry
	whole     bool                                // the list holds the oldest post
	deep      bool                                // there may be older posts
	climb     bool                                // the walk is among older posts and goes to newer ones, then to the list
	bound     retwis.PostID                       // position among the older posts

	origins origins // state of the partitions of the older posts at the first read
}

// arrived reports whether the list once held a post that it does not hold. Fan-out has delivered the post if no earlier entry
// waits in the outbox of its author and, unless that outbox lags behind others, if the list holds a newer post. Entries of the owner
// are on the owner's home from the start. An empty list is not built yet.
func (t *tailWalk) arrived(p authored) bool {
	own := t.id.Kind == retwis.HomeTimeline && p.author == t.id.Owner && p.element.ID <= t.newestOwn
	delivered := t.origins[t.timelines.db.OfUser(p.author).Number].delivered()
	return own || t.newest == 0 || p.element.ID < max(t.newest.EndOfMilli(), delivered)
}

func (t *tailWalk) hold(elements []retwis.Element) {
	t.held = make(map[retwis.PostID]bool, len(elements))
	for _, e := range elements {
		t.held[e.ID] = true
	}
}

func (t *tailWalk) next(ctx context.Context, count int) ([]entry, bool, error) {
	if t.climb {
		return t.newer(ctx, count)
	}
	if len(t.list) > 0 {
		n := min(count, len(t.list))
		entries := make([]entry, n)
		for i, e := range t.list[:n] {
			entries[i] = entry{element: e}
		}
		if t.older {
			entries = entriesOf(t.list[:n], t.list[n:])
		}
		for i, e := range entries {
			entries[i].hidden, entries[i].same = t.hidden[e.element], t.same[e.element]
		}
		t.list = t.list[n:]
		return entries, len(t.list) == 0 && !(t.older && t.deep), nil
	}
	if !t.older || !t.deep {
		return nil, true, nil
	}
	posts, end, err := t.timelines.mergeProfiles(ctx, t.id, t.bound, true, count+t.heldBelow(t.bound), t.origins)
	if err != nil {
		return nil, false, err
	}
	var entries []entry
	for i, p := range posts {
		t.bound = p.element.ID
		if !t.held[p.element.ID] && t.arrived(p) {
			entries = append(entries, t.deepEntry(p))
		}
		if len(entries) == count {
			return entries, end && i == len(posts)-1, t.markRepeats(ctx, entries)
		}
	}
	return entries, end, t.markRepeats(ctx, entries)
}

// heldBelow returns the number of posts below an id that are skipped, because the list holds them.
func (t *tailWalk) heldBelow(id retwis.PostID) int {
	held := 0
	for post := range t.held {
		if post < id {
			held++
		}
	}
	return held
}

// markRepeats finds the repeats among older posts.
func (t *tailWalk) markRepeats(ctx context.Context, entries []entry) error {
	return markRepeats(entries, func(below retwis.PostID, count int) ([]entry, error) {
		posts, _, err := t.timelines.mergeProfiles(ctx, t.id, below, true, count+t.heldBelow(below), t.origins)
		var older []entry
		for _, p := range posts {
			if !t.held[p.element.ID] && t.arrived(p) {
				older = append(older, t.deepEntry(p))
			}
		}
		return older, err
	})
}

// deepEntry returns the entry of an older post. The rule is that of lib/visibility.lua.
func (t *tailWalk) deepEntry(p authored) entry {
	e := p.element
	hidden := e.Answered != 0 && e.Author != t.reader && e.Answered != t.reader && !p.answersSource || p.hiddenReposter
	return entry{element: e, deep: true, hidden: hidden}
}

// newer walks the older posts up to the list.
func (t *tailWalk) newer(ctx context.Context, count int) ([]entry, bool, error) {
	ahead := 0 // posts that will be skipped once the walk reaches ids of the list
	for post := range t.held {
		if post > t.bound {
			ahead++
		}
	}
	if ahead == len(t.held) {
		ahead = 0
	}
	posts, end, err := t.timelines.mergeProfiles(ctx, t.id, t.bound, false, count+ahead, t.origins)
	if err != nil {
		return nil, false, err
	}
	var entries []entry
	for _, p := range posts {
		t.bound = p.element.ID
		if !t.held[p.element.ID] && t.arrived(p) {
			entries = append(entries, t.deepEntry(p))
		}
		if len(entries) == count {
			return entries, false, t.markRepeats(ctx, entries)
		}
	}
	t.climb = !end
	return entries, false, t.markRepeats(ctx, entries)
}
