package retwis

// LiveMessage is what one partition tells an API node. Messages are hints: they may
// be lost, the timeline's list is the truth.
type LiveMessage struct {
	Kind       LiveKind
	Post       PostID // of LivePushed and LiveRemoved
	Author     UserID // of LiveRemoved: who wrote the post
	Recipients []Recipient
}

// LiveKind tells live messages apart.
type LiveKind byte

// The kinds of live message.
const (
	LiveJoined  LiveKind = 'j' // the channel is subscribed, for the first time or again: messages may have been lost before
	LivePushed  LiveKind = '+' // the post was pushed to the recipients' lists
	LiveRemoved LiveKind = '-' // the post was deleted
	LiveProbe   LiveKind = '?' // the channel works
	LiveChanged LiveKind = '!' // the recipients' lists changed below their heads, and their generation rose; or they are gone
)

// Recipient is a timeline that a live message concerns.
type Recipient struct {
	Timeline TimelineID
	Before   PostID // of LivePushed: what headed the list before; 0 where it was empty
}

// Replay is what happened to a timeline since a position, read in one step.
type Replay struct {
	Gone     bool             // the timeline ended, with the list or the user it belonged to; the rest says nothing
	Position TimelinePosition // where the timeline stands now
	Found    bool             // whether everything since the position is still held
	Arrived  []PostID         // that arrived since the position, in order of arrival; deleted ones too
	Removed  []Removal        // since the position, oldest first
}

// Removal is the deletion of a post.
type Removal struct {
	ID     RemovalID
	Post   PostID
	Author UserID
}

// Credentials are what a login is checked against.
type Credentials struct {
	User         UserID
	PasswordHash string
}
