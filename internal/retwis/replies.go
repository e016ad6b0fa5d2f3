package retwis

import "slices"

// MaxAncestors is the number of nearest ancestors that a reply stores, besides the root of its thread.
const MaxAncestors = 20

// InReplyTo returns the post that a reply answers, which may have been deleted; 0 for any other post.
func (p *Post) InReplyTo() PostID {
	if len(p.Thread) == 0 {
		return 0
	}
	return p.Thread[len(p.Thread)-1]
}

// InReplyToUser returns the author of the post that a reply answers; 0 for any other post.
func (p *Post) InReplyToUser() UserID {
	if len(p.Thread) > 0 && p.Answered == 0 {
		return p.AuthorID
	}
	return p.Answered
}

// NextInThread returns the thread of a reply to a post with a thread: the root and the nearest [MaxAncestors].
func NextInThread(thread []PostID, answered PostID) []PostID {
	next := append(slices.Clone(thread), answered)
	if len(next) > 1+MaxAncestors {
		next = slices.Delete(next, 1, len(next)-MaxAncestors)
	}
	return next
}

// ReferenceKind is how a post refers to another one, whose partition keeps the set of such posts.
type ReferenceKind string

// The kinds of references.
const (
	ReplyReference  ReferenceKind = "replies"
	QuoteReference  ReferenceKind = "quotes"
	RepostReference ReferenceKind = "reposts"
)

// References names the replies to a post, or its quotes, in one of two orders. In both, replies of the author of the post come
// before all others.
type References struct {
	Kind   ReferenceKind
	To     PostID
	Newest bool // newest first; oldest first otherwise
}

// ReplyOrder is an order of replies.
type ReplyOrder string

// The orders of replies.
const (
	OldestFirst ReplyOrder = "OLDEST"
	NewestFirst ReplyOrder = "NEWEST"
)

// UnavailableReason is why a post cannot be shown.
type UnavailableReason string

// PostDeleted says that the author deleted the post or the account.
const PostDeleted UnavailableReason = "DELETED"

// Thread is the conversation around a post.
type Thread struct {
	PostID PostID   // may have been deleted
	Above  []PostID // the posts above it, as in [Post.Thread]
}

// ReferencePosition is the content of a cursor of replies or quotes.
type ReferencePosition struct {
	Of    References
	First bool   // whether the post is one of the replies of the author that come before all others
	Post  PostID // the reply or quote
}

// cursorKind returns the kind of the cursors of replies or quotes.
func (k ReferenceKind) cursorKind() byte {
	if k == QuoteReference {
		return 'q'
	}
	return 'r'
}

// Cursor encodes the position.
func (p ReferencePosition) Cursor() Cursor {
	return seal(p.Of.Kind.cursorKind(), int64(p.Of.To), number(p.Of.Newest), number(p.First), int64(p.Post))
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// ReferencePosition decodes a cursor of the given replies or quotes. Any other cursor is [ErrBadCursor].
func (c Cursor) ReferencePosition(of References) (ReferencePosition, error) {
	n, ok := c.open(of.Kind.cursorKind())
	if !ok || len(n) != 4 {
		return ReferencePosition{}, ErrBadCursor
	}
	p := ReferencePosition{Of: of, First: n[2] == 1, Post: PostID(n[3])}
	if p.Post < FirstPostID(1) || p.Cursor() != c { // scripts compute with the milliseconds
		return ReferencePosition{}, ErrBadCursor
	}
	return p, nil
}
