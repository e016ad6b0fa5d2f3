package retwis

import (
	"fmt"
	"strings"
	"time"
)

// TimelineKind is the kind of a timeline.
type TimelineKind byte

// The kinds of timeline.
const (
	HomeTimeline     TimelineKind = 'h' // posts of a user and of the users whom the user follows
	ProfileTimeline  TimelineKind = 'u' // a user's own posts, without replies to other users
	RepliesTimeline  TimelineKind = 'r' // a user's own posts, with all replies
	PublicTimeline   TimelineKind = 'p' // posts of all users
	MentionsTimeline TimelineKind = 'm' // posts that mention a user
	ListTimeline     TimelineKind = 'l' // posts of the members of a list
	TagTimeline      TimelineKind = 't' // posts with a hashtag
)

// postCounts is the kind of [PostCounts], which no client can name.
const postCounts TimelineKind = 'c'

// PostCounts returns the id under which a process registers in a partition, to receive the posts whose counts change. It does not
// identify a timeline.
func PostCounts(partition int) TimelineID { return TimelineID{postCounts, UserID(Buckets + partition)} }

// IsPostCounts reports whether the id is one of [PostCounts].
func (t TimelineID) IsPostCounts() bool { return t.Kind == postCounts }

// TimelineID identifies a timeline. The owner of the public timeline is 0. For the timeline
// of a list, the id of the list replaces that of the owner; both are in the same partition. The timeline of a hashtag has the id of
// the hashtag.
type TimelineID struct {
	Kind  TimelineKind
	Owner UserID
}

// Home returns the id of a user's home timeline.
func Home(user UserID) TimelineID { return TimelineID{HomeTimeline, user} }

// Profile returns the id of the timeline of a user's own posts, without replies to other users.
func Profile(user UserID) TimelineID { return TimelineID{ProfileTimeline, user} }

// ProfileWithReplies returns the id of the timeline of a user's own posts, with all replies.
func ProfileWithReplies(user UserID) TimelineID { return TimelineID{RepliesTimeline, user} }

// IsProfile reports whether the timeline is a profile, with or without replies. The two have one list.
func (t TimelineID) IsProfile() bool { return t.Kind == ProfileTimeline || t.Kind == RepliesTimeline }

// Mentions returns the id of the timeline of the posts that mention a user.
func Mentions(user UserID) TimelineID { return TimelineID{MentionsTimeline, user} }

// ListPosts returns the id of the timeline of a list.
func ListPosts(list ListID) TimelineID { return TimelineID{ListTimeline, UserID(list)} }

// List returns the list that a list timeline belongs to.
func (t TimelineID) List() ListID { return ListID(t.Owner) }

// TagPosts returns the id of the timeline of a hashtag.
func TagPosts(tag TagID) TimelineID { return TimelineID{TagTimeline, UserID(tag)} }

// Tag returns the hashtag that the timeline of a hashtag belongs to.
func (t TimelineID) Tag() TagID { return TagID(t.Owner) }

// User returns the user whom the timeline belongs to, 0 for the public timeline and those of lists and hashtags.
func (t TimelineID) User() UserID {
	if t.Kind == ListTimeline || t.Kind == TagTimeline {
		return 0
	}
	return t.Owner
}

// FannedOut reports whether fan-out delivers posts to the timeline, so that it can be rebuilt
// from the profiles of the authors. This holds for home timelines and lists.
func (t TimelineID) FannedOut() bool { return t.Kind == HomeTimeline || t.Kind == ListTimeline }

// OpenToAll reports whether any user can post to the timeline, and its readers cannot choose who does.
func (t TimelineID) OpenToAll() bool {
	return t.Kind == PublicTimeline || t.Kind == MentionsTimeline || t.Kind == TagTimeline
}

// Public returns the id of the public timeline.
func Public() TimelineID { return TimelineID{Kind: PublicTimeline} }

// String returns the short form for presence and for messages between processes.
func (t TimelineID) String() string {
	if t.Kind == PublicTimeline {
		return "p"
	}
	return string(t.Kind) + t.Owner.String()
}

// ParseTimelineID parses the result of [TimelineID.String].
func ParseTimelineID(s string) (TimelineID, error) {
	if s == "p" {
		return Public(), nil
	}
	for _, kind := range []TimelineKind{HomeTimeline, ProfileTimeline, RepliesTimeline, MentionsTimeline, ListTimeline, TagTimeline} {
		if owner, ok := strings.CutPrefix(s, string(kind)); ok {
			id, err := ParseUserID(owner)
			if err != nil {
				break
			}
			return TimelineID{kind, id}, nil
		}
	}
	return TimelineID{}, fmt.Errorf("invalid timeline id %.40q", s)
}

// VisibleTo reports whether a reader may see the timeline, as far as its id determines this.
// Home and mentions timelines are private to their owner; profiles, hashtags and the public timeline
// are visible to all. The timeline of a list is private to the owner of the list, whom the id
// does not contain, so the result is false. The reader 0 is anonymous.
func (t TimelineID) VisibleTo(reader UserID) bool {
	switch t.Kind {
	case ProfileTimeline, RepliesTimeline, PublicTimeline, TagTimeline:
		return true
	case HomeTimeline, MentionsTimeline:
		return reader != 0 && reader == t.Owner
	default:
		return false
	}
}

// Timeline is a timeline in the API. Its posts are read when they are requested.
type Timeline struct{ ID TimelineID }

// Page bounds of connections.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// Page selects a page of a connection. Exactly one of First and Last is above 0, and it is at
// most [MaxPageSize]. After is used with First, and Before with Last. An empty cursor means no
// cursor.
type Page struct {
	First  int
	After  Cursor
	Last   int
	Before Cursor

	FilterEpoch int64  // of the viewer, for the cursors of a timeline; 0 for an anonymous one
	Viewer      UserID // read the viewer's likes and reposts of the posts with the page, if that takes no further read; 0 not to read them
	Unread      int    // at most this many unread posts of a timeline are counted, up to [MaxUnread]; 0 not to count
}

// Direction returns whether the page is read forward, from the first edges, or backward, from the last ones. It also returns the number
// of edges, and the cursor at which the page begins.
func (p Page) Direction() (first bool, count int, from Cursor) {
	if p.Last > 0 {
		return false, p.Last, p.Before
	}
	return true, p.First, p.After
}

// PostEdge is a post and its position in a timeline.
type PostEdge struct {
	Cursor Cursor
	Post   *Post
	Repost *Repost // why the timeline shows the post; nil if it shows the post itself
}

// Repost is a repost of a post.
type Repost struct {
	ID     PostID
	UserID UserID // the reposter
}

// CreatedAt returns the time of the repost.
func (r *Repost) CreatedAt() time.Time { return r.ID.CreatedAt() }

// NewPostEdge returns the edge of an element that shows a post.
func NewPostEdge(cursor Cursor, element Element, post *Post) PostEdge {
	edge := PostEdge{Cursor: cursor, Post: post}
	if element.Reposted != 0 {
		edge.Repost = &Repost{element.ID, element.Author}
	}
	return edge
}

// EntryID returns the id of the entry of the timeline: that of the repost or else of the post.
func (e PostEdge) EntryID() PostID {
	if e.Repost != nil {
		return e.Repost.ID
	}
	return e.Post.ID
}

// PostPage is one page of a timeline, newest first.
type PostPage struct {
	Edges           []PostEdge
	HasNextPage     bool
	HasPreviousPage bool
	LiveCursor      Cursor // position of the timeline when the page was read
	Unread          Unread // zero unless [Page.Unread] asks for it

	// Related says what connects the user of [Page.Viewer] with posts, as far as that was read with the page.
	Related map[PostID]Relation

	// ScannedTo is the last position read of a page that ended early, because many entries were not shown: the page
	// begins or ends there, in the direction of reading. It is empty for any other page.
	ScannedTo Cursor
}

// Relation says what connects a user with a post.
type Relation struct {
	Liked    bool // the user likes the post
	Reposted bool // the user has reposted it
}

// EndCursor returns the position after which the next page begins, for a page read towards older posts. It is empty for
// an empty page that is the last one.
func (p PostPage) EndCursor() Cursor {
	if n := len(p.Edges); p.ScannedTo == "" && n > 0 {
		return p.Edges[n-1].Cursor
	}
	return p.ScannedTo
}

// HasMarker reports whether the owner of the timeline can mark it as read.
func (t TimelineID) HasMarker() bool {
	return t.Kind == HomeTimeline || t.Kind == MentionsTimeline || t.Kind == ListTimeline
}

// Unread says what the owner of a timeline has not read.
type Unread struct {
	Marker *Cursor // the position up to which the timeline is read; nil if it was never marked
	Count  int     // posts above the marker
}

// Bounds of a count of unread posts.
const (
	DefaultUnread = 99
	MaxUnread     = 100 // the count ends here
	MaxUnreadScan = 500 // entries; a count that sees more is as high as was asked for
)

// MarkerCursor returns the cursor of a marker at an element, nil for the zero element. Equal markers have equal cursors.
func MarkerCursor(of TimelineID, e Element) *Cursor {
	if e == (Element{}) {
		return nil
	}
	c := TimelinePosition{Timeline: of, Element: e}.Cursor()
	return &c
}
