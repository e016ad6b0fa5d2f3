package live

import (
	"math/rand/v2"
	"slices"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

const (
	recentLength  = 256 // maximum number of sent posts that a feed remembers
	removedLength = 256 // maximum number of sent removals that a feed remembers
	verifyLength  = 64  // maximum number of sent entries that a catch-up compares with the list
	heldLength    = 64  // maximum number of messages that a busy feed holds back
	advanceEvery  = 200 // entries without an event after which subscribers get the new position
)

// feed is the state of one timeline that has subscribers in this process. The partition's
// lock guards it.
//
// A feed is busy while a goroutine catches up for it. Only that goroutine advances the
// position of a busy feed; the feed holds messages back until the catch-up ends. A new feed
// is busy until its first subscriber has read the position of the timeline.
type feed struct {
	// The fields that a push uses come first: with thousands of feeds the processor's caches
	// hold none of them, and each cache line costs a memory access.
	accepting    bool // a read of the timeline has begun: messages are relevant from here on
	positioned   bool // position is known
	busy         bool // see above
	readAgain    bool // the current read may be outdated: catch up once more
	dropped      bool // without subscribers; another feed may serve the timeline
	ended        bool // the timeline was deleted
	headObserved bool // see below
	verify       bool // the next catch-up compares the entries sent with the list, even if it finds no new one

	compareFilters bool // the next catch-up compares the filter epochs of all viewers
	due            bool // a message asked for the next catch-up: a subscriber pays for it
	behind         bool // the next catch-up would find too many changes
	awaited        bool // a client of another network than the subscribers waits to join after the catch-up
	checking       bool // the next catch-up is a regular check: a subscriber pays for what exceeds one that finds nothing

	newest      retwis.PostID // greatest leading id in recent
	recent      []pubsub.Arrival
	subscribers subscribers
	removed     []pubsub.Removal // the last removals sent
	partition   *partition

	// position is the position of the subscribers. recent ends with position.Element and holds
	// the entries that arrived before it, without a gap. Messages do not contain the offsets of
	// removals in the partition's stream of changes. position.Change is therefore from the
	// last read: a subscriber that resumes may receive removals again, but misses none.
	//
	// headObserved reports that the feed saw the head of the list arrive, by a message or by
	// a read. A head that the feed merely found may be at the head for the second time:
	// posts once pushed on top of it were purged, and their messages may still be in flight.
	// The feed therefore verifies the first push onto such a head against the list.
	position    retwis.TimelinePosition
	removals    int             // number of removals sent
	comparisons int             // number of times that a catch-up began to compare the filter epochs of all viewers
	late        []retwis.UserID // viewers whose filter epochs the next catch-up compares, if not those of all: they joined during a comparison
	unsent      int             // entries in a row that the feed advanced to without an event
	changeFloor retwis.ChangeID // the feed may not have sent removals up to here
	changeAt    time.Time       // position.Change was read before: see [recentPosts]

	counting int             // subscribers that receive changed counts
	top      []retwis.PostID // if there are any: the posts of the newest entries, newest last; some may be there twice
	topKnown bool            // whether top includes the posts that arrived before the first such subscriber
	changed  []retwis.PostID // of top: those whose changed counts such subscribers have not received

	marker    retwis.Element // the last marker sent, or read with the first position
	timeline  retwis.TimelineID
	joining   int           // subscribers that are joining
	entered   chan struct{} // closed when presence was first registered
	enteredAt time.Time     // start of the last presence registration, which lasts for the TTL
	held      []message
	idle      chan struct{} // closed when the feed is no longer busy; nil without waiters
	checkAt   time.Time     // time of the next comparison with the list
}

// message is the content of a live message that concerns one feed.
type message struct {
	kind    pubsub.Kind
	element retwis.Element // of Pushed and Marked
	before  retwis.PostID  // of Pushed
	hidden  bool           // of Pushed: whether the timeline does not show the entry
	body    *retwis.Post   // of Pushed; nil if deleted or hidden
	removal pubsub.Removal // of Removed
}

// receive processes a message, or holds it back while the feed is busy.
func (f *feed) receive(m message) {
	switch {
	case !f.accepting:
	case f.busy:
		f.hold(m)
	case m.kind == pubsub.Pushed:
		f.pushed(m)
	case m.kind == pubsub.Removed:
		f.sendRemoval(m.removal)
	case m.kind == pubsub.Marked:
		f.sendMarker(m.element)
	default:
		f.compareFilters, f.due = true, true
		f.requestCatchUp()
	}
}

// pushed advances the feed if the message continues at its position. Any other message
// except a repeated one indicates a gap, and the feed catches up. A post that is repeated
// after another post indicates that the list has changed its order.
func (f *feed) pushed(m message) {
	switch {
	case m.element.ID <= f.newest && lastIndex(f.recent, m.element.ID) >= 0:
		if i := lastIndex(f.recent, m.element.ID); i > 0 && f.recent[i-1].ID != m.before && !f.timeline.IsProfile() {
			f.verifyAndCatchUp()
		}
	case m.before == f.position.Element.ID && f.headObserved:
		f.advance(pubsub.Arrival{Element: m.element, Hidden: m.hidden}, m.body)
	default:
		f.held = append(f.held, m) // the catch-up need not load the post again
		f.verifyAndCatchUp()
	}
}

// hold keeps a message until the feed is no longer busy. If there are too many, or if a
// message requires a read, the feed catches up again instead.
func (f *feed) hold(m message) {
	f.compareFilters, f.due = f.compareFilters || m.kind == pubsub.Changed, f.due || m.kind == pubsub.Changed
	switch {
	case f.readAgain: // the next read covers the message
	case len(f.held) >= heldLength || (m.kind != pubsub.Pushed && m.kind != pubsub.Removed):
		f.held, f.readAgain = nil, true
	default:
		f.held = append(f.held, m)
	}
}

// requestCatchUp queues a catch-up. It has no effect on a feed that needs none.
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

// verifyAndCatchUp is requestCatchUp for a catch-up that probably finds entries.
func (f *feed) verifyAndCatchUp() {
	f.verify = true
	f.requestCatchUp()
}

// endBusy ends the busy state and processes the messages held back, which may make the feed
// busy again.
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
		f.idle, f.awaited = nil, false
	}
}

// whenIdle returns a channel that is closed when the busy state ends. The feed must be busy.
func (f *feed) whenIdle() <-chan struct{} {
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	return f.idle
}

// advance moves the position to an entry that arrived at the head, and sends its post. It does not send a post that was not loaded, because
// it is deleted or hidden, nor one whose removal, or that of its repost, the feed has sent since.
func (f *feed) advance(e pubsub.Arrival, post *retwis.Post) {
	f.position, f.headObserved = f.position.Next(e.Element), true
	f.recent, f.newest = appendBounded(f.recent, e, recentLength), max(f.newest, e.ID)
	if f.counting > 0 {
		f.addTop(e.Shown())
	}
	if post != nil && !f.sentRemoval(e.Shown()) && !f.sentRemoval(e.ID) {
		f.send(&retwis.PostAdded{Edge: retwis.NewPostEdge(f.position.Cursor(), e.Element, post)})
		return
	}
	if f.unsent++; f.unsent < advanceEvery {
		f.payUnsent()
		return
	}
	f.send(&retwis.Advanced{Cursor: f.position.Cursor()})
}

// sendRemoval sends a removal unless the feed recently sent it.
func (f *feed) sendRemoval(r pubsub.Removal) {
	if f.sentRemoval(r.Post) {
		return
	}
	f.removed = appendBounded(f.removed, r, removedLength)
	f.removals++
	f.send(&retwis.PostRemoved{Cursor: f.position.Cursor(), PostID: r.Post, AuthorID: r.Author})
}

// sendMarker sends the marker of the timeline if it has moved.
func (f *feed) sendMarker(marker retwis.Element) {
	if marker == f.marker {
		return
	}
	f.marker = marker
	f.send(&retwis.MarkerMoved{
		Cursor: f.position.Cursor(), Marker: retwis.MarkerCursor(f.timeline, marker), Timeline: retwis.Timeline{ID: f.timeline},
	})
}

func (f *feed) sentRemoval(id retwis.PostID) bool {
	return slices.ContainsFunc(f.removed, func(r pubsub.Removal) bool { return r.Post == id })
}

// sent returns the last entries that the feed sent, of which the last is at its position: those that a catch-up compares with
// the list. A profile needs no comparison: its list is sorted by id.
func (f *feed) sent() []pubsub.Arrival {
	if f.timeline.IsProfile() {
		return nil
	}
	return slices.Clone(f.recent[max(0, len(f.recent)-1-verifyLength):])
}

// sendRemovals sends removals of a read, and moves the position to the last of them.
func (f *feed) sendRemovals(removed []pubsub.Removal) {
	for _, r := range removed {
		f.position.Change = r.ID
		f.sendRemoval(r)
	}
}

// finishCatchUp sets the position that a read reached. The posts and removals of the read have been sent.
func (f *feed) finishCatchUp(position retwis.TimelinePosition) {
	if position.Element != f.position.Element {
		// The posts above position.Element were deleted from the list itself, as from a profile.
		f.headObserved = false
		if i := lastIndex(f.recent, position.Element.ID); i >= 0 {
			f.recent = f.recent[:i+1]
		} else {
			f.recent, f.newest = []pubsub.Arrival{{Element: position.Element}}, position.Element.ID
		}
	} else {
		position.Older = f.position.Older
	}
	f.position, f.changeAt = position, time.Now()
	f.scheduleCheck()
}

// reset sends a reset, since the missed events cannot be replayed, and continues at the
// current position of the timeline.
func (f *feed) reset(position retwis.TimelinePosition, reason retwis.ResetReason) {
	f.setPosition(position)
	f.partition.hub.counts.resets.Add(int64(f.subscribers.len()))
	f.send(&retwis.Reset{Cursor: position.Cursor(), Reason: reason})
}

// endSubscriptions ends all subscriptions, since the timeline was deleted.
func (f *feed) endSubscriptions() {
	f.ended, f.held, f.readAgain = true, nil, false
	f.subscribers.visit(func(s *subscription) { s.end(retwis.ErrTimelineGone) })
}

// setPosition sets a position that does not continue the previous one.
func (f *feed) setPosition(position retwis.TimelinePosition) {
	f.position, f.recent, f.newest = position, []pubsub.Arrival{{Element: position.Element}}, position.Element.ID
	f.headObserved, f.positioned, f.verify, f.changeFloor, f.changeAt = false, true, false, position.Change, time.Now()
	f.top, f.topKnown = nil, false
	f.scheduleCheck()
}

// scheduleCheck schedules the next comparison with the list, with jitter.
func (f *feed) scheduleCheck() {
	every := f.partition.hub.options.CheckEvery
	f.checkAt = time.Now().Add(every*3/4 + rand.N(every/2+1))
}

// lastIndex returns the index of the last element with a leading id, or -1.
func lastIndex(elements []pubsub.Arrival, id retwis.PostID) int {
	for i, e := range slices.Backward(elements) {
		if e.ID == id {
			return i
		}
	}
	return -1
}

// appendBounded appends to a list of at most limit elements. It deletes the oldest quarter
// of a full list, so that it does not move the elements at each call.
func appendBounded[T any](list []T, one T, limit int) []T {
	if len(list) >= limit {
		list = slices.Delete(list, 0, limit/4)
	}
	return append(list, one)
}
