package outbox

import (
	"errors"

	"retwis/internal/retwis"
)

// Delivery is one call that delivers an entry to a delivery target.
type Delivery struct {
	Entry     Entry
	Partition int
	To        TargetKind
	User      retwis.UserID     // with [TargetReposterHomes] and [TargetReposterLists]: who reposted the post
	Timeline  retwis.TimelineID // with [TargetTimeline]
	Progress  string            // the progress that the caller expects at the target; empty at first
	Chunk     int               // how many timelines the call may serve; 0 for the default
	Silent    bool              // a deletion is not announced to watched timelines, beyond those of [Entry.Timelines]
	Work      int               // expected work of the call, in pushes to a home
}

// Target returns the delivery target.
func (d Delivery) Target() Target { return Target{d.Entry.ID, d.Partition, d.To, d.User, d.Timeline} }

// Target identifies a delivery target: one place that an entry goes to.
type Target struct {
	Entry     string // id of the entry
	Partition int
	To        TargetKind
	User      retwis.UserID     // as in [Delivery]
	Timeline  retwis.TimelineID // as in [Delivery]
}

// TargetKind says which timelines of a partition a delivery is for.
type TargetKind byte

// The kinds of delivery target.
const (
	TargetFollowers     TargetKind = iota // home timelines of the author's followers
	TargetLists                           // lists that contain the author
	TargetTimeline                        // one of the single timelines of [Entry.Timelines]
	TargetReplies                         // the replies of the post answered
	TargetQuotes                          // the quotes of the post quoted
	TargetReposts                         // the reposts of the post reposted
	TargetReposterHomes                   // of a deleted post: home timelines of the followers of a user who reposted it, and the timelines of that user
	TargetReposterLists                   // of a deleted post: lists that contain such a user
	TargetWatched                         // of a deleted post with many reposts: all watched timelines
	TargetLikers                          // the likes of a deleted post
	TargetPulled                          // home timelines that pull the posts of a large author, those that are watched at once
	TargetTask                            // no timeline: an entry without deliveries, recorded in the outbox's own partition
)

// AuthorPartitions are the partitions that an author's posts go to.
type AuthorPartitions struct {
	Followers map[int]int  // follower partitions, with the estimated number of followers
	Lists     map[int]bool // partitions that may hold lists with the author on them
	Large     bool         // whether the author is above the push threshold
}

// Reposters are the users who have reposted a post.
type Reposters struct {
	Users []retwis.UserID
	Many  bool // there are more of them
}

// Interrupted is the end of the progress of a call that runs or broke off.
const Interrupted = "*"

// Done is the progress of an entry that a target has received completely.
const Done = "done"

// Late is the progress of a post at a target that has begun to receive a later post of its author. The post must be merged.
const Late = "late"

// Result is the result of a [Delivery].
type Result struct {
	Progress  string // the progress stored at the target; another worker may have advanced it
	Pushed    int    // number of lists that the post was pushed to
	Announced int    // number of watched timelines to which a deletion was announced
	Visited   int    // followers, lists or watched timelines that were looked at for these
	Served    int    // timelines of followers, or lists, that the call has done with
	Searched  int    // lists that were searched for it, each as often as a search takes as long as one for an entry
	Err       error
}

// Lease is the result of acquiring or renewing the lease of an outbox.
type Lease struct {
	Held bool  // the worker holds the lease now
	Err  error // why this is unknown
}

// ErrRejected is the error of an entry that a script rejected. A retry does not help, unlike after an error of the
// connection, the server or the cluster.
var ErrRejected = errors.New("the entry was rejected")
