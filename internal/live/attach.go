package live

import (
	"cmp"
	"slices"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

// attach adds s to the subscribers and starts it with the events between its reading and
// the position of the feed. It reports false if it cannot connect the two positions: the
// feed and the subscriber must then read the timeline again. With force, attach sends s a
// reset instead.
func (f *feed) attach(s *subscription, r reading, force bool) bool {
	fresh := !f.positioned
	if fresh {
		f.setPosition(r.events.Position)
		f.marker = r.events.Marker
	}
	begin, ok := f.replayUpTo(r, s.filter)
	if !ok {
		if !force {
			return false
		}
		begin = replay{end: f.joinPosition(r)}
		if r.from != nil {
			begin.reset = cmp.Or(r.resetReason(s.filter), retwis.HistoryChanged)
		}
	}
	begin.end.Filter, begin.from.Filter = s.filter, s.filter
	begin.marker = retwis.MarkerCursor(f.timeline, f.marker)
	f.subscribers.add(s, f.partition.hub.options, f.partition.mayBeFirst(s.network()))
	if s.tail == nil {
		f.partition.firsts.add(s.network(), 1)
	}
	if s.counts {
		f.counting++
	}
	s.start(begin)
	// The reading may lack removals that the feed sent after the read began.
	for _, sent := range f.removed[max(0, len(f.removed)-(f.removals-r.removals)):] {
		if !slices.ContainsFunc(begin.removed, func(r pubsub.Removal) bool { return r.Post == sent.Post }) {
			s.deliver(&retwis.PostRemoved{Cursor: begin.end.Cursor(), PostID: sent.Post, AuthorID: sent.Author}, 1)
		}
	}
	if s.viewer != 0 && f.comparisons != r.comparisons {
		f.late = append(f.late, s.viewer) // the last comparison may not have included this viewer
		f.requestCatchUp()
	}
	if fresh {
		f.endBusy()
	}
	return true
}

// replayUpTo returns the replay that takes a subscriber from its reading to the position of
// the feed. Within an epoch the list is a log, and recent is an excerpt of it. The two
// positions are therefore comparable if one of them occurs in the posts that the other side
// has read. Otherwise replayUpTo reports false.
func (f *feed) replayUpTo(r reading, filter int64) (replay, bool) {
	read := r.events.Position
	if read.Epoch != f.position.Epoch ||
		f.removals-r.removals > len(f.removed) || read.Change.Before(f.changeFloor) {
		return replay{}, false
	}
	behind := lastIndex(f.recent, read.Element.ID) // recent continues the reading from here
	if r.from == nil {
		return replay{end: f.joinPosition(r)}, behind >= 0
	}
	if reason := r.resetReason(filter); reason != "" {
		return replay{reset: reason, end: f.joinPosition(r)}, behind >= 0
	}

	arrived := r.events.Arrived
	if behind >= 0 {
		if !f.agrees(f.recent[:behind+1], r.from.Element, arrived) {
			return replay{}, false
		}
		arrived = slices.Concat(arrived, f.recent[behind+1:])
	} else if i := lastIndex(arrived, f.position.Element.ID); i >= 0 {
		arrived = arrived[:i+1] // the feed will send the later posts as live events
		if !f.agrees(f.recent, r.from.Element, arrived) {
			return replay{}, false
		}
	} else if f.position.Element == r.from.Element {
		arrived = nil
	} else {
		return replay{}, false
	}

	return replay{from: *r.from, arrived: arrived, removed: r.events.Removed, end: f.joinPosition(r)}, true
}

// agrees reports whether the feed has sent the entries that a reading found after an entry, as far as the feed remembers: one of
// the two may have read a master that failed, and the other one its successor. A profile is sorted by id.
func (f *feed) agrees(sent []pubsub.Arrival, from retwis.Element, arrived []pubsub.Arrival) bool {
	return f.timeline.IsProfile() || agree(sent, slices.Insert(slices.Clone(arrived), 0, pubsub.Arrival{Element: from}))
}

// joinPosition returns the position at which a new subscriber joins: the entry of the feed
// and the last change of the subscriber's own reading.
func (f *feed) joinPosition(r reading) retwis.TimelinePosition {
	end := f.position
	end.Change = r.events.Position.Change
	return end
}

// remove removes s from the subscribers.
func (f *feed) remove(s *subscription) {
	if s.counts {
		if f.counting--; f.counting == 0 {
			f.top, f.topKnown = nil, false
		}
	}
	if s.tail == nil {
		f.partition.firsts.add(s.network(), -1)
	}
	f.subscribers.remove(s, f.partition.hub.options)
}
