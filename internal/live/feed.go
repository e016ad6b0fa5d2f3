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
	accepting    bool // somebody reads or has read the timeline: from here on messages count
	positioned   bool // position is known
	busy         bool // see above
	readAgain    bool // what is being read may not be the last: read again
	dropped      bool // nobody needs it, another may have taken its place
	ended        bool // the timeline is gone, and does not come back
	headObserved bool // see below

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
	position     retwis.TimelinePosition
	removals     int              // removals told in all
	removalFloor retwis.RemovalID // removals up to here may not have been told

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
	case !f.accepting:
	case f.busy:
		f.hold(m)
	case m.kind == retwis.LivePushed:
		f.pushed(m)
	case m.kind == retwis.LiveRemoved:
		f.sendRemoval(retwis.Removal{Post: m.post, Author: m.author})
	default:
		f.requestCatchUp()
	}
}

func (f *feed) pushed(m message) {
	switch {
	case m.post <= f.newest && slices.Contains(f.recent, m.post):
	case m.before == f.position.Post && f.headObserved:
		f.advance(m.post, m.body)
	default:
		f.held = append(f.held, m) // saves loading the post again
		f.requestCatchUp()
	}
}

func (f *feed) hold(m message) {
	switch {
	case f.readAgain: // the list will say it
	case len(f.held) >= heldLength || (m.kind != retwis.LivePushed && m.kind != retwis.LiveRemoved):
		f.held, f.readAgain = nil, true
	default:
		f.held = append(f.held, m)
	}
}

// requestCatchUp makes the feed read what it may have missed.
func (f *feed) requestCatchUp() {
	switch {
	case !f.accepting || f.dropped || f.ended:
	case f.busy:
		f.readAgain = true
	default:
		f.busy = true
		f.partition.hub.queue.add(f)
	}
}

// endBusy ends being busy: it acts on the messages held back, which may make it busy again.
func (f *feed) endBusy() {
	held, dirty := f.held, f.readAgain
	f.held, f.readAgain, f.busy = nil, false, false
	if dirty {
		f.requestCatchUp()
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
	f.position.Post, f.headObserved = id, true
	f.recent, f.newest = appendBounded(f.recent, id, recentLength), max(f.newest, id)
	if post != nil && !f.sentRemoval(id) {
		f.send(&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: f.position.Cursor(), Post: post}})
	}
}

// sendRemoval tells that a post was deleted, unless that was told lately.
func (f *feed) sendRemoval(r retwis.Removal) {
	if f.sentRemoval(r.Post) {
		return
	}
	f.removed = appendBounded(f.removed, r, removedLength)
	f.removals++
	f.send(&retwis.PostRemoved{Cursor: f.position.Cursor(), PostID: r.Post, AuthorID: r.Author})
}

func (f *feed) sentRemoval(id retwis.PostID) bool {
	return slices.ContainsFunc(f.removed, func(r retwis.Removal) bool { return r.Post == id })
}

func (f *feed) send(e retwis.Event) {
	for _, s := range f.subscribers {
		s.deliver(e)
	}
}

// finishCatchUp ends a read that told all there was: the timeline stands at position.
func (f *feed) finishCatchUp(position retwis.TimelinePosition, removed []retwis.Removal) {
	for _, r := range removed {
		f.position.Removal = r.ID
		f.sendRemoval(r)
	}
	if position.Post != f.position.Post {
		// The posts above were deleted from the list itself, as from a profile.
		f.headObserved = false
		if i := lastIndex(f.recent, position.Post); i >= 0 {
			f.recent = f.recent[:i+1]
		} else {
			f.recent, f.newest = []retwis.PostID{position.Post}, position.Post
		}
	}
	f.position = position
	f.scheduleCheck()
}

// reset tells the subscribers that what they missed cannot be told, and goes on from
// where the timeline stands.
func (f *feed) reset(position retwis.TimelinePosition, reason retwis.ResetReason) {
	f.setPosition(position)
	f.partition.hub.counts.resets.Add(int64(len(f.subscribers)))
	f.send(&retwis.Reset{Cursor: position.Cursor(), Reason: reason})
}

// endSubscriptions sends the subscribers away: nothing will happen to the timeline any more.
func (f *feed) endSubscriptions() {
	f.ended, f.held, f.readAgain = true, nil, false
	for _, s := range f.subscribers {
		s.end(retwis.ErrTimelineGone)
	}
}

// setPosition takes a position that does not follow from what was told.
func (f *feed) setPosition(position retwis.TimelinePosition) {
	f.position, f.recent, f.newest = position, []retwis.PostID{position.Post}, position.Post
	f.headObserved, f.positioned, f.removalFloor = false, true, position.Removal
	f.scheduleCheck()
}

func (f *feed) scheduleCheck() {
	every := f.partition.hub.options.CheckEvery
	f.checkAt = time.Now().Add(every*3/4 + rand.N(every/2+1))
}

func lastIndex(ids []retwis.PostID, id retwis.PostID) int {
	for i, candidate := range slices.Backward(ids) {
		if candidate == id {
			return i
		}
	}
	return -1
}

// appendBounded appends to a list that forgets the oldest: a quarter of what it may hold at
// once, so as not to move the others each time.
func appendBounded[T any](list []T, one T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, limit/4)
	}
	return append(list, one)
}

func compareRemovals(a, b retwis.RemovalID) int {
	return cmp.Or(cmp.Compare(a.Millis, b.Millis), cmp.Compare(a.Seq, b.Seq))
}
