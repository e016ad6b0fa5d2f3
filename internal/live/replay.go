package live

import (
	"context"
	"slices"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// postBatch is how many posts are loaded by one call.
const postBatch = 100

// reading is what a subscriber that is about to join has read of its timeline.
type reading struct {
	from     *retwis.TimelinePosition // where the subscriber resumes; nil from now on
	news     retwis.Replay            // since from; without one only the position
	removals int                      // that the feed had told when the read began
}

// resetReason says why what a reader of the position from has missed cannot be told one by
// one; it is empty when it can.
func resetReason(from retwis.TimelinePosition, news retwis.Replay) retwis.ResetReason {
	switch {
	case news.Position.Generation != from.Generation:
		return retwis.HistoryChanged
	case !news.Found:
		return retwis.CursorTooOld
	default:
		return ""
	}
}

// replay is what a subscriber is told before the live events: what happened between
// its cursor and the place where it joins its feed.
type replay struct {
	from    retwis.TimelinePosition
	arrived []retwis.PostID
	removed []retwis.Removal
	reset   retwis.ResetReason // instead of the events, when not empty
	end     retwis.TimelinePosition
}

// send sends the replay at the subscriber's own pace. It returns early when the
// subscription ends.
//
// The cursor of a post keeps the removals of the old cursor: a subscriber that
// resumes in the middle is told all of them again, and misses none.
func (r *replay) send(s *subscription) {
	told := 0
	at := r.from
	at.Deep = false
	for ids := range slices.Chunk(r.arrived, postBatch) {
		posts := s.hub.loadPostsRetrying(s.ctx, ids)
		for i, post := range posts {
			if post == nil {
				continue
			}
			at.Post = ids[i]
			s.sink.Replay(s.ctx, &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: at.Cursor(), Post: post}})
			told++
		}
		if s.ctx.Err() != nil {
			return
		}
	}
	at = r.end
	for _, removal := range r.removed {
		at.Removal = removal.ID
		s.sink.Replay(s.ctx, &retwis.PostRemoved{Cursor: at.Cursor(), PostID: removal.Post, AuthorID: removal.Author})
		told++
	}
	s.sink.Replay(s.ctx, &retwis.CaughtUp{Cursor: r.end.Cursor(), Replayed: told})
}

// loadPostsRetrying loads posts however often it takes. It returns none when ctx ends.
func (h *Hub) loadPostsRetrying(ctx context.Context, ids []retwis.PostID) []*retwis.Post {
	for failures := 0; ; failures++ {
		posts, err := h.posts(ctx, ids)
		if err == nil {
			return posts
		}
		if ctx.Err() != nil {
			return nil
		}
		h.log.WarnContext(ctx, "loading posts for a replay failed", "err", err)
		_ = sleep.For(ctx, backoff(failures))
	}
}
