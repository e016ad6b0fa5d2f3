package retwis

import (
	"fmt"
	"strings"
)

// TimelineKind tells timelines apart by what feeds them.
type TimelineKind byte

// The kinds of timeline.
const (
	HomeTimeline     TimelineKind = 'h' // posts of a user and of those the user follows
	ProfileTimeline  TimelineKind = 'u' // a user's own posts
	PublicTimeline   TimelineKind = 'p' // everybody's posts
	MentionsTimeline TimelineKind = 'm' // posts that name a user
	ListTimeline     TimelineKind = 'l' // posts of the members of a list
)

// TimelineID names a timeline. The owner of the public timeline is 0. A list's timeline
// has the list's id in the place of its owner's: it names the same partition.
type TimelineID struct {
	Kind  TimelineKind
	Owner UserID
}

// Home names a user's home timeline.
func Home(user UserID) TimelineID { return TimelineID{HomeTimeline, user} }

// Profile names the timeline of a user's own posts.
func Profile(user UserID) TimelineID { return TimelineID{ProfileTimeline, user} }

// Mentions names the timeline of the posts that name a user.
func Mentions(user UserID) TimelineID { return TimelineID{MentionsTimeline, user} }

// ListPosts names the timeline of a list.
func ListPosts(list ListID) TimelineID { return TimelineID{ListTimeline, UserID(list)} }

// List returns the list of a list's timeline.
func (t TimelineID) List() ListID { return ListID(t.Owner) }

// FannedOut reports whether the timeline is fed by fan-out from those it follows, and can
// be built anew from their profiles: a home or a list.
func (t TimelineID) FannedOut() bool { return t.Kind == HomeTimeline || t.Kind == ListTimeline }

// Public names the timeline of everybody's posts.
func Public() TimelineID { return TimelineID{Kind: PublicTimeline} }

// String returns the short form that presence and messages between processes use.
func (t TimelineID) String() string {
	if t.Kind == PublicTimeline {
		return "p"
	}
	return string(t.Kind) + t.Owner.String()
}

// ParseTimelineID reads the form that [TimelineID.String] writes.
func ParseTimelineID(s string) (TimelineID, error) {
	if s == "p" {
		return Public(), nil
	}
	for _, kind := range []TimelineKind{HomeTimeline, ProfileTimeline, MentionsTimeline, ListTimeline} {
		if owner, ok := strings.CutPrefix(s, string(kind)); ok {
			id, err := ParseUserID(owner)
			if err != nil {
				break
			}
			return TimelineID{kind, id}, nil
		}
	}
	return TimelineID{}, fmt.Errorf("%q is no timeline", s)
}

// VisibleTo reports whether a reader may see the timeline, as far as its id tells: homes
// and mentions are their owner's alone, profiles and the public timeline are open. A
// list's timeline is its owner's alone, whom the id does not name: it is visible to nobody
// here. The reader 0 is anonymous.
func (t TimelineID) VisibleTo(reader UserID) bool {
	switch t.Kind {
	case ProfileTimeline, PublicTimeline:
		return true
	case HomeTimeline, MentionsTimeline:
		return reader != 0 && reader == t.Owner
	default:
		return false
	}
}

// Timeline is a timeline as a value to be resolved; its posts are read when asked for.
type Timeline struct{ ID TimelineID }

// Page bounds of connections.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// Page says which page of a connection to read. Exactly one of First and Last is
// above 0 and at most [MaxPageSize]; After goes with First, Before with Last. An
// empty cursor is none.
type Page struct {
	First  int
	After  Cursor
	Last   int
	Before Cursor
}

// PostEdge is a post at its place in a timeline.
type PostEdge struct {
	Cursor Cursor
	Post   *Post
}

// PostPage is one page of a timeline, newest first.
type PostPage struct {
	Edges           []PostEdge
	HasNextPage     bool
	HasPreviousPage bool
	LiveCursor      Cursor // where the timeline stood when the page was read
}
