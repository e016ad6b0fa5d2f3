package retwis

import (
	"fmt"
	"strconv"
	"strings"
)

// Element is an entry of the list of a timeline: why a post is there. Elements are comparable.
// The zero value is below all entries.
//
// An element is a function of the post or repost that its leading id names, so that the
// elements of one list have different leading ids.
type Element struct {
	ID       PostID // the leading id: of the post, or of the repost. It determines the order
	Author   UserID // of a reply or a repost: who wrote the reply or reposted; 0 for a plain post
	Answered UserID // of a reply: the author of the post answered
	Reposted PostID // of a repost: the post
}

// minContextID is the least leading id of a reply or a repost, so that their strings are longer than that of
// any plain post. Scripts recognise plain posts by the length. Ids exceed it since January 1970.
const minContextID = 1e15

// Plain returns the element of a post, or of a continuation of the author's own thread.
func Plain(id PostID) Element { return Element{ID: id} }

// NewElement returns the element of a post or repost of an author. Answered is the author of the post that a
// reply answers, and reposted the post of a repost; both are 0 for a plain post.
func NewElement(id PostID, author, answered UserID, reposted PostID) Element {
	if answered == 0 && reposted == 0 {
		return Plain(id)
	}
	return Element{ID: id, Author: author, Answered: answered, Reposted: reposted}
}

// Shown returns the post that the element shows.
func (e Element) Shown() PostID {
	if e.Reposted != 0 {
		return e.Reposted
	}
	return e.ID
}

// String returns the form in which lists hold the element: the id of a plain post,
// <post>:<author>:<answered> for a reply, and <repost>~<reposter>~<post> for a repost.
func (e Element) String() string {
	if e.Author == 0 {
		return e.ID.String()
	}
	b := make([]byte, 0, 64)
	b = strconv.AppendInt(b, int64(e.ID), 10)
	separator, last := byte(':'), int64(e.Answered)
	if e.Reposted != 0 {
		separator, last = '~', int64(e.Reposted)
	}
	b = strconv.AppendInt(append(b, separator), int64(e.Author), 10)
	b = strconv.AppendInt(append(b, separator), last, 10)
	return string(b)
}

// ParseElement parses the result of [Element.String].
func ParseElement(s string) (Element, error) {
	end := strings.IndexAny(s, ":~")
	if end < 0 {
		id, err := ParsePostID(s)
		return Element{ID: id}, err
	}
	var e Element
	context, last, found := strings.Cut(s[end+1:], s[end:end+1])
	err := strconv.ErrSyntax
	if found {
		e.ID, err = ParsePostID(s[:end])
	}
	if err == nil {
		e.Author, err = ParseUserID(context)
	}
	if err == nil && s[end] == ':' {
		e.Answered, err = ParseUserID(last)
	} else if err == nil {
		e.Reposted, err = ParsePostID(last)
	}
	if err != nil || !e.valid() {
		return Element{}, fmt.Errorf("invalid element %.80q", s)
	}
	return e, nil
}

// valid reports whether the fields are those of a plain post, of a reply or of a repost, or the zero value.
func (e Element) valid() bool {
	if e.Author == 0 {
		return e == Element{ID: e.ID}
	}
	return e.ID >= minContextID && e.Author < maxUserID && e.Answered < maxUserID && (e.Answered != 0) != (e.Reposted != 0)
}
