package store

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
)

// repeatSpan is the number of elements of the rule about repeats: a timeline does not show a repost if one of so many elements directly
// below it shows the same post. The script lib/repeats.lua has the same rule.
const repeatSpan = 100

// place is an element and its index, counted downwards.
type place struct {
	index   int
	element retwis.Element
}

// parseSamePosts parses what lib/repeats.lua returns.
func parseSamePosts(reply any) (samePosts, error) {
	fields, _ := reply.([]any)
	places := make([]place, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		element, err := retwis.ParseElement(rdb.Text(fields[i+1]))
		if err != nil {
			return nil, err
		}
		index, _ := fields[i].(int64)
		places = append(places, place{int(index) - 1, element})
	}
	return samePostsOf(places), nil
}

// samePosts are elements by the post that they show, in ascending order of their indexes. A list may have a thousand reposts of one post: each
// has up to [repeatSpan] of them below it, so these share the memory.
type samePosts map[retwis.PostID]*shownBy

// shownBy are elements that show one post, with their indexes.
type shownBy struct {
	indexes  []int
	elements []retwis.Element
}

// samePostsOf groups places, which are in ascending order. Most lists have none.
func samePostsOf(places []place) samePosts {
	if len(places) == 0 {
		return nil
	}
	same := samePosts{}
	for _, p := range places {
		by := same[p.element.Shown()]
		if by == nil {
			by = &shownBy{}
			same[p.element.Shown()] = by
		}
		by.indexes, by.elements = append(by.indexes, p.index), append(by.elements, p.element)
	}
	return same
}

// below returns the elements directly below a place that show the same post, nil if the place is not of a repost, or if there are none.
// Do not change them.
func (s samePosts) below(of place) []retwis.Element {
	by := s[of.element.Reposted]
	if of.element.Reposted == 0 || by == nil {
		return nil
	}
	from, _ := slices.BinarySearch(by.indexes, of.index+1)
	to, _ := slices.BinarySearch(by.indexes, of.index+repeatSpan+1)
	if from == to {
		return nil
	}
	return slices.Clip(by.elements[from:to])
}

// reposts returns the reposts that decide whether the timeline shows an entry, unless they were undone: its own, and those of the same
// post below it.
func (e entry) reposts() []retwis.PostID {
	var ids []retwis.PostID
	if e.element.Reposted != 0 {
		ids = append(ids, e.element.ID)
	}
	for _, other := range e.same {
		if other.Reposted != 0 {
			ids = append(ids, other.ID)
		}
	}
	return ids
}

// showsEntry reports whether the post of an entry exists. For a repost it must also not be undone, and not repeat an element below it.
func (x existing) showsEntry(e entry) bool {
	return x.shows(e.element) && !slices.ContainsFunc(e.same, x.shows)
}

// hideRepeats hides the reposts of a replay that repeat a post which the list shows directly below them. Of the reposts that may repeat
// one, it also hides those that no longer show a post. The entries are newest first.
func (s *Live) hideRepeats(ctx context.Context, arrived []pubsub.Arrival, same samePosts) error {
	var entries []entry
	var at []int
	for i, a := range arrived {
		e := entry{element: a.Element, same: same.below(place{i, a.Element})}
		if len(e.same) > 0 && !a.Hidden {
			entries, at = append(entries, e), append(at, i)
		}
	}
	ids, _ := appendShown(nil, nil, entries)
	posts, err := s.timelines.posts.read(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the posts that are repeated: %w", err)
	}
	exist := existing{}
	for i, post := range posts {
		exist[ids[i]] = post != nil
	}
	for i, e := range entries {
		arrived[at[i]].Hidden = !exist.showsEntry(e)
	}
	return nil
}

// markRepeats finds the repeats among entries that are in the order of ids, as on profiles. read returns the next entries below an id,
// at least as many as it is asked for unless there are no more.
func markRepeats(entries []entry, read func(below retwis.PostID, count int) ([]entry, error)) error {
	var highest, lowest retwis.PostID
	for _, e := range entries {
		if e.element.Reposted != 0 {
			highest = max(highest, e.element.ID)
			if lowest == 0 || e.element.ID < lowest {
				lowest = e.element.ID
			}
		}
	}
	if highest == 0 {
		return nil
	}
	span := 0 // entries from the highest repost to the lowest
	for _, e := range entries {
		if lowest <= e.element.ID && e.element.ID <= highest {
			span++
		}
	}
	below, err := read(highest, span+repeatSpan)
	if err != nil {
		return err
	}
	index := map[retwis.PostID]int{highest: -1}
	var places []place
	for i, e := range below {
		index[e.element.ID] = i
		if !e.hidden {
			places = append(places, place{i, e.element})
		}
	}
	same := samePostsOf(places)
	for i, e := range entries {
		if at, known := index[e.element.ID]; known {
			entries[i].same = same.below(place{at, e.element})
		}
	}
	return nil
}
