package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// verifyingClient is a subscriber that resumes whenever its subscription ends. It verifies
// that it receives each post once, in the order of the list, or a justified reset.
type verifyingClient struct {
	db       *fakeDatabase
	h        *Hub
	timeline retwis.TimelineID
	report   func(string)

	// Guarded by the database's lock.
	slow        time.Duration // pause after each event
	disconnect  context.CancelFunc
	cursor      retwis.Cursor // cursor of the last event; empty to begin now
	position    retwis.TimelinePosition
	next        int                    // index in list.pushed of the next expected post
	removalBase retwis.ChangeID        // later removals are expected
	removed     map[retwis.PostID]bool // removals received
	marker      *retwis.Cursor         // as the client knows it; nil if the timeline was never marked
	log         []string
}

func newVerifyingClient(db *fakeDatabase, h *Hub, timeline retwis.TimelineID, after retwis.Cursor, report func(string)) *verifyingClient {
	c := &verifyingClient{db: db, h: h, timeline: timeline, cursor: after, removed: map[retwis.PostID]bool{}}
	c.report = func(problem string) {
		report(fmt.Sprintf("client of %s after %v, next %d: %s", timeline, c.log, c.next, problem))
	}
	if after != "" {
		c.position, _ = after.TimelinePosition(timeline)
		c.next, c.removalBase = db.list(timeline).after(c.position), c.position.Change
	}
	return c
}

func (c *verifyingClient) run(ctx context.Context) {
	for ctx.Err() == nil {
		session, cancel := context.WithCancel(ctx)
		c.db.mu.Lock()
		c.disconnect = cancel
		pushed := len(c.db.list(c.timeline).pushed)
		after := c.cursor
		c.db.mu.Unlock()
		s, err := c.h.Subscribe(session, c.timeline, after)
		if err == nil {
			c.read(s, pushed)
		}
		cancel()
		_ = sleep.For(ctx, 50*time.Millisecond)
	}
}

// read verifies the events of one subscription.
func (c *verifyingClient) read(s Subscription, pushed int) {
	sent, caughtUp := 0, false
	for e := range s.Events {
		c.db.mu.Lock()
		c.log = append(c.log, describe(e))
		switch e := e.(type) {
		case *retwis.CaughtUp:
			if caughtUp {
				c.report("caught up twice")
			}
			if e.Replayed != sent {
				c.report(fmt.Sprintf("%d events were replayed, the event says %d", sent, e.Replayed))
			}
			caughtUp = true
			c.marker = e.Marker
			if c.cursor == "" {
				c.begin(e.Cursor, pushed)
			}
		case *retwis.MarkerMoved:
			c.marker = e.Marker
		case *retwis.Reset:
			c.marker = retwis.MarkerCursor(c.timeline, c.db.list(c.timeline).marker) // the client reads the timeline
			if sent > 0 && !caughtUp {
				c.report("reset in the middle of a replay")
			}
		default:
			sent++
		}
		c.check(e)
		slow := c.slow
		c.db.mu.Unlock()
		time.Sleep(slow)
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf("| %v |", s.Err()))
}

// begin sets the position at which a subscription without a cursor began.
func (c *verifyingClient) begin(cursor retwis.Cursor, pushed int) {
	at, _ := cursor.TimelinePosition(c.timeline)
	c.next, c.removalBase = c.db.list(c.timeline).after(at), at.Change
	c.wantDeleted("before now", c.next, pushed)
	c.position = at
}

// check verifies one event.
func (c *verifyingClient) check(e retwis.Event) {
	at, err := e.EventCursor().TimelinePosition(c.timeline)
	if err != nil {
		c.report(err.Error())
		return
	}
	l := c.db.list(c.timeline)
	next := l.after(at)
	switch e := e.(type) {
	case *retwis.PostAdded:
		id := e.Edge.Post.ID
		index := slices.IndexFunc(l.pushed, func(e retwis.Element) bool { return e.Shown() == id })
		if index < c.next {
			c.report(fmt.Sprintf("post %s was repeated or never pushed", id))
			return
		}
		if l.hidden[l.pushed[index]] {
			c.report(fmt.Sprintf("post %s is hidden", id))
		}
		// The hub may have loaded the post before its deletion, which the client has received
		// already. The hub must then send the removal again.
		delete(c.removed, id)
		if at.Epoch == l.epoch { // otherwise a reset follows
			c.wantDeleted("skipped", c.next, index)
		}
		c.next = index + 1
	case *retwis.PostRemoved:
		if c.db.posts[e.PostID] != nil {
			c.report(fmt.Sprintf("post %s is not deleted", e.PostID))
		}
		c.removed[e.PostID] = true
	case *retwis.Reset:
		switch {
		case e.Reason == retwis.HistoryChanged && at.Epoch == c.position.Epoch:
			c.report("reset without a change")
		case e.Reason == retwis.CursorTooOld && len(l.pushed)-c.next < min(c.db.capacity, c.db.longest):
			c.report("reset although the list holds all missed posts")
		case next < c.next:
			c.report("reset to an earlier position")
		}
		c.next, c.removalBase = next, at.Change
	}
	c.wantDeleted("skipped by the cursor", c.next, next)
	c.wantDeleted("repeated by the cursor", next, c.next)
	for _, r := range c.db.removals[c.db.PartitionOf(c.timeline)] {
		if !removedLater(r.ID, at.Change) {
			c.wantRemovalSent(r)
		}
	}
	c.cursor, c.position = e.EventCursor(), at
}

// wantDeleted reports the undeleted posts that the timeline shows among pushed[from:to]. A client may only miss others.
func (c *verifyingClient) wantDeleted(problem string, from, to int) {
	l := c.db.list(c.timeline)
	pushed := l.pushed
	for i := from; i < to; i++ {
		if c.db.posts[pushed[i].Shown()] != nil && !l.hidden[pushed[i]] {
			c.report(fmt.Sprintf("post %s is %s", pushed[i], problem))
		}
	}
}

// wantRemovalSent reports a removal that the client should have received.
func (c *verifyingClient) wantRemovalSent(r removal) {
	concerned := false
	for _, t := range r.timelines {
		concerned = concerned || t == c.timeline
	}
	if concerned && removedLater(r.ID, c.removalBase) && !c.removed[r.Post] {
		c.report(fmt.Sprintf("the removal of post %s is lost", r.Post))
	}
}

// finish verifies that no event is missing once all events have been delivered.
func (c *verifyingClient) finish() {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	l := c.db.list(c.timeline)
	c.wantDeleted("missing", c.next, len(l.pushed))
	if want := retwis.MarkerCursor(c.timeline, l.marker); !cmp.Equal(c.marker, want) {
		c.report(fmt.Sprintf("the marker is not %s: %s", l.marker, cmp.Diff(want, c.marker)))
	}
	if c.position.Epoch != l.epoch {
		c.report(fmt.Sprintf("epoch %d was never sent, the last is %d", l.epoch, c.position.Epoch))
	}
	for _, r := range c.db.removals[c.db.PartitionOf(c.timeline)] {
		c.wantRemovalSent(r)
	}
}
