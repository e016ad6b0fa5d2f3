package live

import (
	"cmp"
	"slices"

	"retwis/internal/retwis"
)

// attach makes s a subscriber, which begins with what it has read. It reports false
// when that does not meet the place where the feed stands: then both are to be read
// again. With force, s is told that it lost continuity instead.
func (f *feed) attach(s *subscription, r reading, force bool) bool {
	fresh := !f.positioned
	if fresh {
		f.setPosition(r.news.Position)
	}
	begin, ok := f.replayUpTo(r)
	if !ok {
		if !force {
			return false
		}
		begin = replay{end: f.joinPosition(r)}
		if r.from != nil {
			begin.reset = cmp.Or(resetReason(*r.from, r.news), retwis.HistoryChanged)
		}
	}
	s.index = len(f.subscribers)
	f.subscribers = append(f.subscribers, s)
	s.start(begin)
	// Removals told since the read began may be missing in it.
	for _, told := range f.removed[max(0, len(f.removed)-(f.removals-r.removals)):] {
		if !slices.ContainsFunc(begin.removed, func(r retwis.Removal) bool { return r.Post == told.Post }) {
			s.deliver(&retwis.PostRemoved{Cursor: begin.end.Cursor(), PostID: told.Post, AuthorID: told.Author})
		}
	}
	if fresh {
		f.endBusy()
	}
	return true
}

// replayUpTo returns what to tell a subscriber so that it stands exactly where the feed
// does. The list is a log as long as its generation stays, and recent is an excerpt of
// it: so the two places can be compared when one is found in what the other has seen.
func (f *feed) replayUpTo(r reading) (replay, bool) {
	read := r.news.Position
	if read.Generation != f.position.Generation ||
		f.removals-r.removals > len(f.removed) || compareRemovals(read.Removal, f.removalFloor) < 0 {
		return replay{}, false
	}
	behind := lastIndex(f.recent, read.Post) // from there on recent continues what was read
	if r.from == nil {
		return replay{end: f.joinPosition(r)}, behind >= 0
	}
	if reason := resetReason(*r.from, r.news); reason != "" {
		return replay{reset: reason, end: f.joinPosition(r)}, behind >= 0
	}

	arrived := r.news.Arrived
	if behind >= 0 {
		arrived = slices.Concat(arrived, f.recent[behind+1:])
	} else if i := lastIndex(arrived, f.position.Post); i >= 0 {
		arrived = arrived[:i+1] // the feed will tell the others
	} else if f.position.Post == r.from.Post {
		arrived = nil
	} else {
		return replay{}, false
	}

	return replay{from: *r.from, arrived: arrived, removed: r.news.Removed, end: f.joinPosition(r)}, true
}

// joinPosition is where a new subscriber joins. It knows of the removals from its own read.
func (f *feed) joinPosition(r reading) retwis.TimelinePosition {
	end := f.position
	end.Removal = r.news.Position.Removal
	return end
}

// remove takes s out.
func (f *feed) remove(s *subscription) {
	last := len(f.subscribers) - 1
	f.subscribers[s.index] = f.subscribers[last]
	f.subscribers[s.index].index = s.index
	f.subscribers[last] = nil
	f.subscribers = f.subscribers[:last]
}
