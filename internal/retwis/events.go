package retwis

// Subscriber is the viewer of a subscription. The zero value is anonymous.
type Subscriber struct {
	User        UserID
	FilterEpoch int64 // as known when the user was authenticated
	Counts      bool  // whether the subscription receives [PostChanged]

	// Charge takes points from the budget of the client, for live events, and for reading the timeline again when a message says that it has
	// changed. With 0 points it checks whether the client can pay for further events. If it fails, the subscription ends with its error. Nil
	// charges nobody.
	Charge func(points int) error
}

// Event is one of [PostAdded], [PostRemoved], [PostChanged], [MarkerMoved], [CaughtUp], [Advanced] and [Reset]. Its
// cursor is the position to resume from.
type Event interface{ EventCursor() Cursor }

// PostAdded reports a new post at the head of the timeline.
type PostAdded struct{ Edge PostEdge }

// PostRemoved reports a deleted post, or a repost that was undone. The subscriber may never have received it.
type PostRemoved struct {
	Cursor   Cursor
	PostID   PostID // of the post or of the repost
	AuthorID UserID // of the post, or the reposter
}

// PostChanged reports that the counts of one of the newest posts of the timeline have changed.
type PostChanged struct {
	Cursor  Cursor
	Post    *Post
	Version int // differs from that of earlier events of the process
}

// MarkerMoved reports that the owner of the timeline has read it up to another position.
type MarkerMoved struct {
	Cursor   Cursor
	Marker   *Cursor // nil if the marker was removed
	Timeline Timeline
}

// CaughtUp ends the replay; live events follow. It occurs exactly once.
type CaughtUp struct {
	Cursor   Cursor
	Replayed int     // events replayed before it
	Marker   *Cursor // of the owner of the timeline; nil if it was never marked
}

// Advanced reports that entries arrived which the subscriber does not see, so that its position
// does not become too old.
type Advanced struct{ Cursor Cursor }

// Reset reports that the events since the subscriber's cursor cannot be replayed. The client
// refetches the timeline; live events continue from the cursor of the reset.
type Reset struct {
	Cursor Cursor
	Reason ResetReason
}

// ResetReason is the reason of a reset.
type ResetReason string

// The reasons of a reset.
const (
	CursorTooOld   ResetReason = "CURSOR_TOO_OLD"  // the position is no longer stored
	HistoryChanged ResetReason = "HISTORY_CHANGED" // posts were added or removed below the head, as after a follow
)

// EventCursor implements [Event].
func (e *PostAdded) EventCursor() Cursor { return e.Edge.Cursor }

// EventCursor implements [Event].
func (e *PostRemoved) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *PostChanged) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *MarkerMoved) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *CaughtUp) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *Advanced) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *Reset) EventCursor() Cursor { return e.Cursor }

// AtCursor returns a copy of the event with another cursor, as for another timeline with the
// same change. It returns nil for an event of an unknown type.
func AtCursor(e Event, c Cursor) Event {
	switch e := e.(type) {
	case *PostAdded:
		edge := e.Edge
		edge.Cursor = c
		return &PostAdded{Edge: edge}
	case *PostRemoved:
		return &PostRemoved{Cursor: c, PostID: e.PostID, AuthorID: e.AuthorID}
	case *PostChanged:
		return &PostChanged{Cursor: c, Post: e.Post, Version: e.Version}
	case *MarkerMoved:
		return &MarkerMoved{Cursor: c, Marker: e.Marker, Timeline: e.Timeline}
	case *CaughtUp:
		return &CaughtUp{Cursor: c, Replayed: e.Replayed, Marker: e.Marker}
	case *Advanced:
		return &Advanced{Cursor: c}
	case *Reset:
		return &Reset{Cursor: c, Reason: e.Reason}
	default:
		return nil
	}
}
