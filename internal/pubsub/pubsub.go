// Package pubsub holds what the store and the live hub agree on: the messages that a
// partition publishes to an API node, and the replay that a subscriber catches up from.
// It does no I/O.
package pubsub

import "retwis/internal/retwis"

// Message is a message from one partition to an API node. Messages are hints and may be
// lost; the timeline's list is authoritative.
type Message struct {
	Kind       Kind
	Element    retwis.Element // of Pushed and Hidden: the entry; of Marked: the marker
	Post       retwis.PostID  // of Removed and Counted
	Author     retwis.UserID  // of Removed: the author of the post
	Pulled     bool           // of Pushed and Hidden: the author is large, and the entry was added to the lists one by one
	Recipients []Recipient
}

// Kind is the kind of a message.
type Kind byte

// The kinds of message.
const (
	Joined  Kind = 'j' // the channel was subscribed or resubscribed; earlier messages may have been lost
	Pushed  Kind = '+' // the entry was pushed to the recipients' lists
	Hidden  Kind = '~' // the entry was pushed to the recipients' lists, and their readers do not see it
	Removed Kind = '-' // the post was deleted
	Marked  Kind = '=' // the owner has read the recipients' lists up to the entry
	Counted Kind = '#' // the counts of the post changed; there are no recipients
	Probe   Kind = '?' // a probe; the channel works
	Changed Kind = '!' // the recipients' lists changed below their heads, with a new epoch, or no longer exist
)

// Recipient is a timeline that a message concerns.
type Recipient struct {
	Timeline retwis.TimelineID
	Before   retwis.PostID // of Pushed and Hidden: the leading id of the previous head of the list; 0 for an empty list
}

// Replay is the history of a timeline since a position, read in one step.
type Replay struct {
	Gone        bool                    // the timeline no longer exists; the other fields are not set
	Position    retwis.TimelinePosition // the current position of the timeline
	Found       bool                    // whether the history since the position is complete
	Reordered   bool                    // the list holds other entries below the position than those that it names
	Arrived     []Arrival               // entries that arrived since the position, in order of arrival, those of deleted posts included
	Removed     []Removal               // since the position, oldest first
	Marker      retwis.Element          // the marker of the timeline; zero if it was never marked
	FilterEpoch int64                   // of the user whose timeline it is; 0 for other timelines
}

// Watched is a timeline with what its subscribers have received of it.
type Watched struct {
	At     retwis.TimelinePosition
	Marker retwis.Element // zero if it was never marked
}

// Comparison is the result of a comparison of timelines with what their subscribers have received.
type Comparison struct {
	Change   retwis.ChangeID // the last change of the partition
	Verdicts []Verdict       // of the first timelines, at least one
}

// Verdict is the result of the comparison of one timeline.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "s" // there are no events
	Different Verdict = "d" // there may be events
	Behind    Verdict = "b" // more changes followed in the partition than a replay may read
)

// Arrival is an entry that arrived on a list.
type Arrival struct {
	retwis.Element
	Hidden bool // whether the timeline does not show it
}

// Removal is the deletion of a post.
type Removal struct {
	ID     retwis.ChangeID
	Post   retwis.PostID
	Author retwis.UserID
}
