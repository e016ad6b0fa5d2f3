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
	from    retwis.TimelinePosition
	arrived []pubsub.Arrival
	removed []pubsub.Removal
	reset   retwis.ResetReason // if not empty, sent instead of the events
	end     retwis.TimelinePosition
	marker  *retwis.Cursor // of the feed; later moves are live events
}

// caughtUp returns the event that ends the replay.
func (r *replay) caughtUp(replayed int) *retwis.CaughtUp {
	return &retwis.CaughtUp{Cursor: r.end.Cursor(), Replayed: replayed, Marker: r.marker}
}

// send sends the replay at the pace of the subscriber. It returns early when the
// subscription ends.
//
// The cursors of replayed posts keep the change of the old cursor. A subscriber that
// resumes within the replay receives all removals again and misses none.
func (r *replay) send(s *subscription) {
	sent := 0
	at := r.from
	at.Deep = false
	for rest, batch := r.arrived, postBatch; len(rest) > 0; {
		if s.waitForRoom() {
			batch = slowBatch
		}
		if s.checkBudget(); s.ctx.Err() != nil {
			return
		}
		n, posts := 0, s.hub.loadPostsRetrying(s.ctx, rest[:min(batch, len(rest))])
		for ; n < len(posts) && (s.sink.Room() == nil || n == 0 && batch == slowBatch); n++ {
			if at = at.Next(rest[n].Element); posts[n] == nil {
				continue
			}
			s.sink.Replay(s.ctx, &retwis.PostAdded{Edge: retwis.NewPostEdge(at.Cursor(), at.Element, posts[n])})
			sent++
		}
		if s.ctx.Err() != nil {
			return
		}
		rest, batch = rest[n:], min(2*batch, postBatch)
	}
	at = r.end
	for _, removal := range r.removed {
		at.Change = removal.ID
		s.sink.Replay(s.ctx, &retwis.PostRemoved{Cursor: at.Cursor(), PostID: removal.Post, AuthorID: removal.Author})
		sent++
	}
	s.sink.Replay(s.ctx, r.caughtUp(sent))
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
