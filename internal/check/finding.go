package check

import (
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	Missing    Kind = "missing"      // a timeline lacks a post
	Extra      Kind = "extra"        // a timeline holds an entry that does not belong to it
	Duplicate  Kind = "duplicate"    // a timeline holds an entry more than once
	OutOfOrder Kind = "out of order" // a timeline holds an entry above a newer one of the same author
	Marker     Kind = "marker"       // the marker of a timeline is malformed, or names a post that was never created

	ProfileMissing   Kind = "profile missing" // a profile lacks a post of its user
	ProfileExtra     Kind = "profile extra"   // a profile holds an entry that is not a post of its user
	ProfileDuplicate Kind = "profile duplicate"
	ProfileOrder     Kind = "profile out of order"

	ReplyMissing Kind = "reply missing" // the replies of a post lack one
	ReplyExtra   Kind = "reply extra"   // the set of replies of a post holds an entry that does not belong to it, or has the wrong score

	QuoteMissing  Kind = "quote missing"  // the quotes of a post lack one
	QuoteExtra    Kind = "quote extra"    // the set of quotes of a post holds an entry that does not belong to it
	RepostMissing Kind = "repost missing" // the reposts of a post lack one
	RepostExtra   Kind = "repost extra"   // the set of reposts of a post holds an entry that does not belong to it
	RepostOfUser  Kind = "repost of user" // the reposts of a user lack one, or hold an entry that is none

	TagMissing Kind = "tag missing" // the timeline of a hashtag lacks a post
	TagName    Kind = "tag name"    // the record of a hashtag and the claim of its name disagree

	HiddenReposter Kind = "hidden reposter" // a user has hidden the reposts of a user whom they do not follow

	OneWayEdge             Kind = "one-way edge"             // the two directions of a follow or membership differ
	DanglingEdge           Kind = "dangling edge"            // a follow or membership refers to a deleted user
	FollowerPartition      Kind = "follower partition"       // the follower partitions of an author lack a partition
	FollowerPartitionCount Kind = "follower partition count" // the stored count of followers in a partition is wrong
	Count                  Kind = "count"                    // a stored count of posts, follows or followers is wrong

	OneWayLike    Kind = "one-way like"   // the two directions of a like differ
	LikeExtra     Kind = "like extra"     // users like a post that does not exist
	LikePartition Kind = "like partition" // the like partitions of a post lack a partition, or hold one although the post does not exist
	LikeCount     Kind = "like count"     // the stored number of likers of a post in a partition is wrong
	LikeTotal     Kind = "like total"     // the stored number of likes of a post is not the sum over the partitions

	NameMissing Kind = "name missing" // a user's name is not claimed or not searchable
	NameTaken   Kind = "name taken"   // a claimed name is not that of the claiming user

	SearchWords Kind = "search words" // the people search does not find a user by all words of their names
	SearchExtra Kind = "search extra" // the people search holds an entry that is not a word of an active user

	NewestMissing Kind = "newest missing" // the newest users lack a user who is newer than a listed one
	NewestExtra   Kind = "newest extra"   // the newest users list an inactive account
)

// kinds returns all kinds in the order of reports.
func kinds() []Kind {
	return []Kind{
		Missing, Extra, Duplicate, OutOfOrder, Marker,
		ProfileMissing, ProfileExtra, ProfileDuplicate, ProfileOrder, ReplyMissing, ReplyExtra, QuoteMissing, QuoteExtra, RepostMissing, RepostExtra, RepostOfUser, TagMissing, TagName,
		HiddenReposter, OneWayEdge, DanglingEdge, FollowerPartition, FollowerPartitionCount, Count,
		OneWayLike, LikeExtra, LikePartition, LikeCount, LikeTotal, NameMissing, NameTaken,
		SearchWords, SearchExtra, NewestMissing, NewestExtra,
	}
}

// OfEntries reports whether findings of the kind concern entries of timelines.
func (k Kind) OfEntries() bool {
	return k == Missing || k == Extra || k == Duplicate || k == OutOfOrder
}

// Kinds returns all kinds in the order of reports.
func Kinds() []Kind { return kinds() }

// findingKey identifies a finding. Findings of two inspections with the same key are the same.
type findingKey struct {
	kind       Kind
	user       retwis.UserID
	timeline   retwis.TimelineID
	element    retwis.Element
	referenced record.Referenced
	partition  int
	detail     string
}

// Finding is a difference between the database and its definition.
type Finding struct {
	Kind     Kind              `json:"kind"`
	User     retwis.UserID     `json:"user,omitempty,string"` // affected user; the author of an edge
	Timeline retwis.TimelineID `json:"-"`
	Post     retwis.PostID     `json:"post,omitempty,string"` // leading id of the entry
	Text     string            `json:"text"`                  // description for operators

	element    retwis.Element
	referenced record.Referenced // the set of replies or quotes that is concerned
	partition  int
	detail     string // further part of the key
	witness    string // state that accompanied the difference; if it changes, the difference may be a new one
	transient  bool   // whether an undelivered entry may explain the difference
}

func (f Finding) key() findingKey {
	return findingKey{f.Kind, f.User, f.Timeline, f.element, f.referenced, f.partition, f.detail}
}

// describe returns a description of a timeline for operators.
func describe(id retwis.TimelineID) string {
	switch id.Kind {
	case retwis.HomeTimeline:
		return "the home of " + id.Owner.String()
	case retwis.MentionsTimeline:
		return "the mentions of " + id.Owner.String()
	case retwis.ListTimeline:
		return "the timeline of list " + id.Owner.String()
	case retwis.TagTimeline:
		return "the timeline of hashtag " + id.Owner.String()
	case retwis.PublicTimeline:
		return "the public timeline"
	case retwis.ProfileTimeline:
		return "the profile of " + id.Owner.String()
	default:
		return "timeline " + id.String()
	}
}

// entryFinding returns a finding about an entry of a timeline.
func entryFinding(kind Kind, id retwis.TimelineID, user retwis.UserID, element retwis.Element, witness, format string, args ...any) Finding {
	return Finding{
		Kind: kind, User: user, Timeline: id, Post: element.ID, element: element, witness: witness, transient: true,
		Text: describe(id) + " " + fmt.Sprintf(format, args...),
	}
}
