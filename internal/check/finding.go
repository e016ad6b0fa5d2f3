package check

import (
	"fmt"

	"retwis/internal/retwis"
)

// Kind tells findings apart.
type Kind string

// The kinds of finding.
const (
	Missing    Kind = "missing"      // a post that a timeline lacks
	Extra      Kind = "extra"        // an entry of a timeline that does not belong there
	Duplicate  Kind = "duplicate"    // an entry of a timeline that is there more than once
	OutOfOrder Kind = "out of order" // an entry above a newer one of its author

	ProfileMissing   Kind = "profile missing" // a post that its author's profile lacks
	ProfileExtra     Kind = "profile extra"   // an entry of a profile that is no post of its user
	ProfileDuplicate Kind = "profile duplicate"
	ProfileOrder     Kind = "profile out of order"

	OneWayEdge             Kind = "one-way edge"             // a follow or a membership whose two directions differ
	DanglingEdge           Kind = "dangling edge"            // a follow of, or membership of somebody who is not there
	FollowerPartition      Kind = "follower partition"       // a partition with an audience that the author's reach lacks
	FollowerPartitionCount Kind = "follower partition count" // a count of followers in a partition that is not theirs
	Count                  Kind = "count"                    // a count of posts, follows or followers that is not theirs

	NameMissing Kind = "name missing" // a user whose name nobody has
	NameTaken   Kind = "name taken"   // a name that somebody has who does not bear it

	NewestMissing Kind = "newest missing" // a user whom the newest users lack, and not for being too old
	NewestExtra   Kind = "newest extra"   // one of the newest users whose account is not in use
)

// kinds are all kinds, in the order of reports.
func kinds() []Kind {
	return []Kind{
		Missing, Extra, Duplicate, OutOfOrder,
		ProfileMissing, ProfileExtra, ProfileDuplicate, ProfileOrder,
		OneWayEdge, DanglingEdge, FollowerPartition, FollowerPartitionCount, Count, NameMissing, NameTaken,
		NewestMissing, NewestExtra,
	}
}

// OfEntries reports whether findings of the kind are about single entries of timelines, so
// that they can be counted per million.
func (k Kind) OfEntries() bool {
	return k == Missing || k == Extra || k == Duplicate || k == OutOfOrder
}

// Kinds returns all kinds of finding, in the order of reports.
func Kinds() []Kind { return kinds() }

// findingKey is what a finding is about. Two findings about the same findingKey are the same.
type findingKey struct {
	kind      Kind
	user      retwis.UserID
	timeline  retwis.TimelineID
	post      retwis.PostID
	partition int
	detail    string
}

// Finding is something that is not as its definition says.
type Finding struct {
	Kind     Kind              `json:"kind"`
	User     retwis.UserID     `json:"user,omitempty,string"` // who is concerned; of an edge, the author
	Timeline retwis.TimelineID `json:"-"`
	Post     retwis.PostID     `json:"post,omitempty,string"`
	Text     string            `json:"text"` // for people

	partition int
	what      string // more of what it is about
	witness   string // what was the case besides: while it changes, what is seen may be another instance of the same
	transient bool   // whether it may come from what is under way
}

func (f Finding) key() findingKey {
	return findingKey{f.Kind, f.User, f.Timeline, f.Post, f.partition, f.what}
}

// describe names a timeline for people.
func describe(id retwis.TimelineID) string {
	switch id.Kind {
	case retwis.HomeTimeline:
		return "the home of " + id.Owner.String()
	case retwis.MentionsTimeline:
		return "the mentions of " + id.Owner.String()
	case retwis.ListTimeline:
		return "the timeline of list " + id.Owner.String()
	case retwis.PublicTimeline:
		return "the public timeline"
	case retwis.ProfileTimeline:
		return "the profile of " + id.Owner.String()
	default:
		return "timeline " + id.String()
	}
}

// entryFinding is one about an entry of a timeline.
func entryFinding(kind Kind, id retwis.TimelineID, user retwis.UserID, post retwis.PostID, witness, format string, args ...any) Finding {
	return Finding{
		Kind: kind, User: user, Timeline: id, Post: post, witness: witness, transient: true,
		Text: describe(id) + " " + fmt.Sprintf(format, args...),
	}
}
