package live

import (
	"context"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

const (
	postBatch = 100 // maximum number of posts loaded by one call
	slowBatch = 4   // posts that are loaded for a subscriber who had no room

	entryBytes = 40 // of an arrival or removal
)

// reading is the state of its timeline that a joining subscriber has read.
type reading struct {
	from   *retwis.TimelinePosition // position to resume from; nil to begin now
	events pubsub.Replay            // events after from; only the position if from is nil

	removals    int // number of removals that the feed had sent when the read began
	comparisons int // number of comparisons of filter epochs that it had begun then
}

// resetReason returns why the events after a position are unrecoverable. It returns the
// empty reason if they can be replayed.
func resetReason(from retwis.TimelinePosition, events pubsub.Replay) retwis.ResetReason {
	switch {
	case events.Position.Epoch != from.Epoch || events.Reordered:
		return retwis.HistoryChanged
	case !events.Found:
		return retwis.CursorTooOld
	default:
		return ""
	}
}

// resetReason is [resetReason] for a viewer with a filter epoch. The position of an earlier one is
// of another view of the timeline.
func (r reading) resetReason(filter int64) retwis.ResetReason {
	if r.from.Filter != filter {
		return retwis.HistoryChanged
	}
	return resetReason(*r.from, r.events)
}

// replay holds the events that a subscriber receives before live events: those between its
// cursor and the position at which it joins the feed.
type replay struct {
	from    retwis.TimelinePosition // of the subscriber: its cursor, then the last entry that it was sent
	arrived []pubsub.Arrival        // entries after from
	removed []pubsub.Removal
	reset   retwis.ResetReason // if not empty, sent instead of the events
	end     retwis.TimelinePosition
	marker  *retwis.Cursor // of the feed; later moves are live events
	sent    int            // number of events that were sent
}

// bytes returns what the entries of the replay take until it ends.
func (r *replay) bytes() int { return (len(r.arrived) + len(r.removed)) * entryBytes }

// caughtUp returns the event that ends the replay.
func (r *replay) caughtUp() *retwis.CaughtUp {
	return &retwis.CaughtUp{Cursor: r.end.Cursor(), Replayed: r.sent, Marker: r.marker}
}

// send sends the replay at the pace of the subscriber. It returns early when the
// subscription ends.
//
// The cursors of replayed posts keep the change of the old cursor. A subscriber that
// resumes within the replay receives all removals again and misses none.
func (r *replay) send(s *subscription) {
	r.from.Deep = false
	for most := postBatch; len(r.arrived) > 0; most = min(2*most, postBatch) {
		slow := s.waitForRoom()
		if slow {
			most = slowBatch
		}
		if s.checkBudget(); s.ctx.Err() != nil {
			return
		}
		if r.sendPosts(s, most, slow); s.ctx.Err() != nil {
			return
		}
	}
	at := r.end
	for _, removal := range r.removed {
		at.Change = removal.ID
		s.sink.Replay(s.ctx, &retwis.PostRemoved{Cursor: at.Cursor(), PostID: removal.Post, AuthorID: removal.Author})
		r.sent++
	}
	s.sink.Replay(s.ctx, r.caughtUp())
}

// sendPosts loads the posts of the next entries, as many as it may keep and a number at most, and sends them while the sink has room. With progress,
// it sends the first one also without.
func (r *replay) sendPosts(s *subscription, most int, progress bool) {
	n, release := s.hub.options.Shares.KeepPosts(s.client, min(most, len(r.arrived)))
	defer release()
	for i, post := range s.hub.loadPostsRetrying(s.ctx, r.arrived[:n]) {
		if s.sink.Room() != nil && (i > 0 || !progress) {
			return
		}
		r.from = r.from.Next(r.arrived[0].Element)
		r.arrived = r.arrived[1:]
		if post == nil {
			continue
		}
		s.sink.Replay(s.ctx, &retwis.PostAdded{Edge: retwis.NewPostEdge(r.from.Cursor(), r.from.Element, post)})
		r.sent++
	}
}

// waitForRoom waits until the sink has room, or the subscription ends. It reports whether it had to. Meanwhile the replay holds no posts:
// readers could be slow with many replays.
func (s *subscription) waitForRoom() bool {
	room := s.sink.Room()
	if room == nil {
		return false
	}
	select {
	case <-room:
	case <-s.ctx.Done():
	}
	return true
}

// loadPostsRetrying loads the posts that entries show and retries until it succeeds. It returns
// nil when ctx ends.
func (h *Hub) loadPostsRetrying(ctx context.Context, entries []pubsub.Arrival) []*retwis.Post {
	for failures := 0; ; failures++ {
		posts, err := h.loadPosts(ctx, nil, time.Now(), entries)
		if err == nil {
			return posts
		}
		if ctx.Err() != nil {
			return nil
		}
		h.log.WarnContext(ctx, "live: loading posts for a replay failed, retrying", "err", err)
		_ = sleep.For(ctx, backoff(failures))
	}
}
