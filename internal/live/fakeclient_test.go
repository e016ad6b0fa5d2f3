package live

import (
	"context"
	"fmt"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// client is a subscriber that resumes whenever its subscription ends, and checks that
// what it is told adds up to what happened: each post once, in the order of the list,
// or a reset that has a reason.
type client struct {
	w        *world
	h        *Hub
	timeline retwis.TimelineID
	problem  func(string)

	// Guarded by the world's lock.
	slow       time.Duration // between two events
	disconnect context.CancelFunc
	cursor     retwis.Cursor // of the last event; "" to begin now
	at         retwis.TimelinePosition
	next       int                    // of what was pushed: what is to be told next
	base       retwis.RemovalID       // removals above are to be told
	removed    map[retwis.PostID]bool // that were told
	log        []string
}

func newClient(w *world, h *Hub, timeline retwis.TimelineID, after retwis.Cursor, problem func(string)) *client {
	c := &client{w: w, h: h, timeline: timeline, cursor: after, removed: map[retwis.PostID]bool{}}
	c.problem = func(what string) {
		problem(fmt.Sprintf("client of %s after %v, next %d: %s", timeline, c.log, c.next, what))
	}
	if after != "" {
		c.at, _ = after.TimelinePosition(timeline)
		c.next, c.base = w.list(timeline).after(c.at), c.at.Removal
	}
	return c
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		session, cancel := context.WithCancel(ctx)
		c.w.mu.Lock()
		c.disconnect = cancel
		pushed := len(c.w.list(c.timeline).pushed)
		after := c.cursor
		c.w.mu.Unlock()
		s, err := c.h.Subscribe(session, c.timeline, after)
		if err == nil {
			c.read(s, pushed)
		}
		cancel()
		_ = sleep.For(ctx, 50*time.Millisecond)
	}
}

// read checks the events of one subscription.
func (c *client) read(s Subscription, pushed int) {
	told, caughtUp := 0, false
	for e := range s.Events {
		c.w.mu.Lock()
		c.log = append(c.log, describe(e))
		switch e := e.(type) {
		case *retwis.CaughtUp:
			if caughtUp {
				c.problem("caught up twice")
			}
			if e.Replayed != told {
				c.problem(fmt.Sprintf("%d events were replayed, not %d", told, e.Replayed))
			}
			caughtUp = true
			if c.cursor == "" {
				c.begin(e.Cursor, pushed)
			}
		case *retwis.Reset:
			if told > 0 && !caughtUp {
				c.problem("reset in the middle of a replay")
			}
		default:
			told++
		}
		c.check(e)
		slow := c.slow
		c.w.mu.Unlock()
		time.Sleep(slow)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf("| %v |", s.Err()))
}

// begin takes the place where a subscription without a cursor began.
func (c *client) begin(cursor retwis.Cursor, pushed int) {
	at, _ := cursor.TimelinePosition(c.timeline)
	c.next, c.base = c.w.list(c.timeline).after(at), at.Removal
	c.wantDeleted("before now", c.next, pushed)
	c.at = at
}

func (c *client) check(e retwis.Event) {
	at, err := e.EventCursor().TimelinePosition(c.timeline)
	if err != nil {
		c.problem(err.Error())
		return
	}
	l := c.w.list(c.timeline)
	next := l.after(at)
	switch e := e.(type) {
	case *retwis.PostAdded:
		id := e.Edge.Post.ID
		place := lastIndex(l.pushed, id)
		if place < c.next {
			c.problem(fmt.Sprintf("post %s was told again, or never came", id))
			return
		}
		// It may have been loaded just before its deletion, which this client knows
		// of already. Then that is to be told again.
		delete(c.removed, id)
		if at.Generation == l.gen { // else a reset is to come, and those may be gone
			c.wantDeleted("skipped", c.next, place)
		}
		c.next = place + 1
	case *retwis.PostRemoved:
		if c.w.posts[e.PostID] != nil {
			c.problem(fmt.Sprintf("post %s is not deleted", e.PostID))
		}
		c.removed[e.PostID] = true
	case *retwis.Reset:
		switch {
		case e.Reason == retwis.HistoryChanged && at.Generation == c.at.Generation:
			c.problem("reset though nothing changed")
		case e.Reason == retwis.CursorTooOld && len(l.pushed)-c.next < min(c.w.capacity, c.w.longest):
			c.problem("reset though everything is held")
		case next < c.next:
			c.problem("reset to an earlier place")
		}
		c.next, c.base = next, at.Removal
	}
	c.wantDeleted("lost by the cursor", c.next, next)
	c.wantDeleted("repeated by the cursor", next, c.next)
	for _, r := range c.w.removals[c.w.PartitionOf(c.timeline)] {
		if !removedLater(r.ID, at.Removal) {
			c.wantTold(r)
		}
	}
	c.cursor, c.at = e.EventCursor(), at
}

// wantDeleted complains about pushed posts, from one place up to another, that are not
// deleted: only of those a client needs to know nothing.
func (c *client) wantDeleted(what string, from, to int) {
	pushed := c.w.list(c.timeline).pushed
	for i := from; i < to; i++ {
		if c.w.posts[pushed[i]] != nil {
			c.problem(fmt.Sprintf("post %s is %s", pushed[i], what))
		}
	}
}

func (c *client) wantTold(r removal) {
	concerned := false
	for _, t := range r.timelines {
		concerned = concerned || t == c.timeline
	}
	if concerned && removedLater(r.ID, c.base) && !c.removed[r.Post] {
		c.problem(fmt.Sprintf("the deletion of %s is lost", r.Post))
	}
}

// finish checks that nothing is missing when everything is quiet.
func (c *client) finish() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	l := c.w.list(c.timeline)
	c.wantDeleted("missing", c.next, len(l.pushed))
	if c.at.Generation != l.gen {
		c.problem(fmt.Sprintf("generation %d was never told, the last is %d", l.gen, c.at.Generation))
	}
	for _, r := range c.w.removals[c.w.PartitionOf(c.timeline)] {
		c.wantTold(r)
	}
}
