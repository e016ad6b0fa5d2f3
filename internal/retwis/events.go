package retwis

// Event is one of [PostAdded], [PostRemoved], [CaughtUp], [Advanced] and [Reset]. Its
// cursor is the place to resume from.
type Event interface{ EventCursor() Cursor }

// PostAdded says that a post arrived at the head of the timeline.
type PostAdded struct{ Edge PostEdge }

// PostRemoved says that a post was deleted; the subscriber may never have seen it.
type PostRemoved struct {
	Cursor   Cursor
	PostID   PostID
	AuthorID UserID
}

// CaughtUp ends the replay: what follows happens now. It comes exactly once.
type CaughtUp struct {
	Cursor   Cursor
	Replayed int // events replayed before it
}

// Advanced says that events were filtered out, so that a subscriber who waits for others
// has a place to resume from that is not too old.
type Advanced struct{ Cursor Cursor }

// Reset says that the events since the subscriber's cursor cannot be told one by
// one: refetch the timeline. Live events follow from its cursor.
type Reset struct {
	Cursor Cursor
	Reason ResetReason
}

// ResetReason says why a timeline's continuity was lost.
type ResetReason string

// The reasons of a reset.
const (
	CursorTooOld   ResetReason = "CURSOR_TOO_OLD"  // the place is no longer held
	HistoryChanged ResetReason = "HISTORY_CHANGED" // posts came or went below the head, as by a follow
)

// EventCursor implements [Event].
func (e *PostAdded) EventCursor() Cursor { return e.Edge.Cursor }

// EventCursor implements [Event].
func (e *PostRemoved) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *CaughtUp) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *Advanced) EventCursor() Cursor { return e.Cursor }

// EventCursor implements [Event].
func (e *Reset) EventCursor() Cursor { return e.Cursor }

// AtCursor returns the event as it stands at another place: what happened to several
// timelines differs in nothing else. It returns nil for an event of an unknown type.
func AtCursor(e Event, c Cursor) Event {
	switch e := e.(type) {
	case *PostAdded:
		return &PostAdded{Edge: PostEdge{Cursor: c, Post: e.Edge.Post}}
	case *PostRemoved:
		return &PostRemoved{Cursor: c, PostID: e.PostID, AuthorID: e.AuthorID}
	case *CaughtUp:
		return &CaughtUp{Cursor: c, Replayed: e.Replayed}
	case *Advanced:
		return &Advanced{Cursor: c}
	case *Reset:
		return &Reset{Cursor: c, Reason: e.Reason}
	default:
		return nil
	}
}
