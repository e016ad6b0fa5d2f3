package live

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"retwis/internal/retwis"
)

const (
	recentLength  = 256 // posts a feed remembers having told, at most
	removedLength = 256 // removals, likewise
	heldLength    = 64  // messages a feed holds back while it reads
)

// feed is the state of one timeline with subscribers here. All of it is guarded by
// the partition's lock.
//
// While a feed is busy it is being read for, and only the reader moves its position;
// messages are held back until then. A new feed is busy until its first subscriber
// has read where the timeline stands.
type feed struct {
	// What a push needs comes first: with thousands of feeds nothing is in the processor's
	// caches, and every line of theirs counts.
	open    bool // somebody reads or has read the timeline: from here on messages count
	placed  bool // position is known
	busy    bool // see above
	dirty   bool // what is being read may not be the last: read again
	gone    bool // nobody needs it, another may have taken its place
	over    bool // the timeline is gone, and does not come back
	settled bool // see below

	newest      retwis.PostID // no post of recent is newer
	recent      []retwis.PostID
	subscribers []*subscription
	removed     []retwis.Removal // the last removals told
	partition   *partition

	// What the subscribers were told. recent ends with position.Post and holds, without
	// a gap, what arrived before it. Messages do not say where removals stand in the
	// partition's stream of them: position.Removal is from the last read, and a subscriber
	// that resumes may be told removals again, but misses none.
	//
	// settled says that the head arrived while the feed or a read of its watched. A head
	// that was merely found may head the list for the second time: what was once
	// pushed on top of it is gone, and the message of that push may still be on
	// its way. So the first push onto such a head is looked up in the list.
	position retwis.TimelinePosition
	removals int              // removals told in all
	untold   retwis.RemovalID // removals up to here may not have been told

	timeline  retwis.TimelineID
	joining   int           // subscribers on their way
	entered   chan struct{} // closed when presence was entered for the first time
	enteredAt time.Time     // presence holds from then for the ttl
	held      []message
	idle      chan struct{} // closed when the feed is no longer busy; nil when nobody waits
	checkAt   time.Time     // when to compare with the list, if nothing else does before
}

// message is what a live message says to one feed.
type message struct {
	kind   retwis.LiveKind
	post   retwis.PostID
	author retwis.UserID // of LiveRemoved
	before retwis.PostID // of LivePushed
	body   *retwis.Post  // of LivePushed; nil when deleted
}

// receive acts on a message, or holds it back while the feed is busy.
func (f *feed) receive(m message) {
	switch {
	case !f.open:
	case f.busy:
		f.hold(m)
	case m.kind == retwis.LivePushed:
		f.pushed(m)
	case m.kind == retwis.LiveRemoved:
		f.tellRemoval(retwis.Removal{Post: m.post, Author: m.author})
	default:
		f.fallBehind()
	}
}

func (f *feed) pushed(m message) {
	switch {
	case m.post <= f.newest && slices.Contains(f.recent, m.post):
	case m.before == f.position.Post && f.settled:
		f.advance(m.post, m.body)
	default:
		f.held = append(f.held, m) // saves loading the post again
		f.fallBehind()
	}
}

func (f *feed) hold(m message) {
	switch {
	case f.dirty: // the list will say it
	case len(f.held) >= heldLength || (m.kind != retwis.LivePushed && m.kind != retwis.LiveRemoved):
		f.held, f.dirty = nil, true
	default:
		f.held = append(f.held, m)
	}
}

// fallBehind makes the feed read what it may have missed.
func (f *feed) fallBehind() {
	switch {
	case !f.open || f.gone || f.over:
	case f.busy:
		f.dirty = true
	default:
		f.busy = true
		f.partition.hub.work.add(f)
	}
}

// thaw ends being busy: it acts on the messages held back, which may make it busy again.
func (f *feed) thaw() {
	held, dirty := f.held, f.dirty
	f.held, f.dirty, f.busy = nil, false, false
	if dirty {
		f.fallBehind()
		return
	}
	for _, m := range held {
		f.receive(m)
	}
	if !f.busy && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// whenIdle returns a channel that is closed when the feed, which is busy, no longer is.
func (f *feed) whenIdle() <-chan struct{} {
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	return f.idle
}

// advance moves the head to a post that arrived there and tells it, unless it is deleted:
// as the loaded post has it, or as a removal says that came after it was loaded.
func (f *feed) advance(id retwis.PostID, post *retwis.Post) {
	f.position.Post, f.settled = id, true
	f.recent, f.newest = remember(f.recent, id, recentLength), max(f.newest, id)
	if post != nil && !f.toldRemoval(id) {
		f.tell(&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: f.position.Cursor(), Post: post}})
	}
}

// tellRemoval tells that a post was deleted, unless that was told lately.
func (f *feed) tellRemoval(r retwis.Removal) {
	if f.toldRemoval(r.Post) {
		return
	}
	f.removed = remember(f.removed, r, removedLength)
	f.removals++
	f.tell(&retwis.PostRemoved{Cursor: f.position.Cursor(), PostID: r.Post, AuthorID: r.Author})
}

func (f *feed) toldRemoval(id retwis.PostID) bool {
	return slices.ContainsFunc(f.removed, func(r retwis.Removal) bool { return r.Post == id })
}

func (f *feed) tell(e retwis.Event) {
	for _, s := range f.subscribers {
		s.deliver(e)
	}
}

// reach ends a read that told all there was: the timeline stands at position.
func (f *feed) reach(position retwis.TimelinePosition, removed []retwis.Removal) {
	for _, r := range removed {
		f.position.Removal = r.ID
		f.tellRemoval(r)
	}
	if position.Post != f.position.Post {
		// The posts above were deleted from the list itself, as from a profile.
		f.settled = false
		if i := lastIndex(f.recent, position.Post); i >= 0 {
			f.recent = f.recent[:i+1]
		} else {
			f.recent, f.newest = []retwis.PostID{position.Post}, position.Post
		}
	}
	f.position = position
	f.checkLater()
}

// reset tells the subscribers that what they missed cannot be told, and goes on from
// where the timeline stands.
func (f *feed) reset(position retwis.TimelinePosition, reason retwis.ResetReason) {
	f.restart(position)
	f.partition.hub.counts.resets.Add(int64(len(f.subscribers)))
	f.tell(&retwis.Reset{Cursor: position.Cursor(), Reason: reason})
}

// finish sends the subscribers away: nothing will happen to the timeline any more.
func (f *feed) finish() {
	f.over, f.held, f.dirty = true, nil, false
	for _, s := range f.subscribers {
		s.end(retwis.ErrTimelineGone)
	}
}

// restart takes a position that does not follow from what was told.
func (f *feed) restart(position retwis.TimelinePosition) {
	f.position, f.recent, f.newest = position, []retwis.PostID{position.Post}, position.Post
	f.settled, f.placed, f.untold = false, true, position.Removal
	f.checkLater()
}

func (f *feed) checkLater() {
	every := f.partition.hub.options.CheckEvery
	f.checkAt = time.Now().Add(every*3/4 + rand.N(every/2+1))
}

// attach makes s a subscriber, which begins with what it has read. It reports false
// when that does not meet the place where the feed stands: then both are to be read
// again. With force, s is told that it lost continuity instead.
func (f *feed) attach(s *subscription, r reading, force bool) bool {
	fresh := !f.placed
	if fresh {
		f.restart(r.news.Position)
	}
	begin, ok := f.join(r)
	if !ok {
		if !force {
			return false
		}
		begin = replay{end: f.end(r)}
		if r.from != nil {
			begin.reset = cmp.Or(lost(*r.from, r.news), retwis.HistoryChanged)
		}
	}
	s.place = len(f.subscribers)
	f.subscribers = append(f.subscribers, s)
	s.begin(begin)
	// Removals told since the read began may be missing in it.
	for _, told := range f.removed[max(0, len(f.removed)-(f.removals-r.removals)):] {
		if !slices.ContainsFunc(begin.removed, func(r retwis.Removal) bool { return r.Post == told.Post }) {
			s.deliver(&retwis.PostRemoved{Cursor: begin.end.Cursor(), PostID: told.Post, AuthorID: told.Author})
		}
	}
	if fresh {
		f.thaw()
	}
	return true
}

// join returns what to tell a subscriber so that it stands exactly where the feed
// does. The list is a log as long as its generation stays, and recent is an excerpt of
// it: so the two places can be compared when one is found in what the other has seen.
func (f *feed) join(r reading) (replay, bool) {
	read := r.news.Position
	if read.Generation != f.position.Generation ||
		f.removals-r.removals > len(f.removed) || compareRemovals(read.Removal, f.untold) < 0 {
		return replay{}, false
	}
	behind := lastIndex(f.recent, read.Post) // from there on recent continues what was read
	if r.from == nil {
		return replay{end: f.end(r)}, behind >= 0
	}
	if reason := lost(*r.from, r.news); reason != "" {
		return replay{reset: reason, end: f.end(r)}, behind >= 0
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

	return replay{from: *r.from, arrived: arrived, removed: r.news.Removed, end: f.end(r)}, true
}

// end is where a new subscriber joins. It knows of the removals from its own read.
func (f *feed) end(r reading) retwis.TimelinePosition {
	end := f.position
	end.Removal = r.news.Position.Removal
	return end
}

// leave takes s out.
func (f *feed) leave(s *subscription) {
	last := len(f.subscribers) - 1
	f.subscribers[s.place] = f.subscribers[last]
	f.subscribers[s.place].place = s.place
	f.subscribers[last] = nil
	f.subscribers = f.subscribers[:last]
}

func lastIndex(ids []retwis.PostID, id retwis.PostID) int {
	for i, candidate := range slices.Backward(ids) {
		if candidate == id {
			return i
		}
	}
	return -1
}

// remember appends to a list that forgets the oldest: a quarter of what it may hold at
// once, so as not to move the others each time.
func remember[T any](list []T, one T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, limit/4)
	}
	return append(list, one)
}

func compareRemovals(a, b retwis.RemovalID) int {
	return cmp.Or(cmp.Compare(a.Millis, b.Millis), cmp.Compare(a.Seq, b.Seq))
}
