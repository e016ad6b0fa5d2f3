package retwis

// What follows is the database as it is stored, for a check of it: nothing is left out,
// mended or refilled, as it is for readers.

// AccountRecord is what is stored about a user, the counts beside what they count.
type AccountRecord struct {
	ID       UserID
	Active   bool
	Gone     bool // whether there is no such user, or nothing left of one
	Username string
	Holder   UserID // who has the name: 0 when nobody has
	Listed   bool   // whether a search for names finds it
	Unlisted bool   // whether the newest users lack it, though they hold older ones

	Posts     Counted // on the profile
	Following Counted // edges
	Followers Counted // the sum over the reach

	Trimmed bool // whether older posts have left the profile

	Reach       map[int]ReachRecord // partitions of followers
	ListReach   map[int]bool        // partitions of lists with the user on them
	FollowersIn map[int]int         // followers by partition, where there are any
	ListsIn     map[int]int         // lists by partition, where there are any

	Lists []ListID
}

// Counted is a stored count, and what there is.
type Counted struct{ Stored, There int }

// ReachRecord is the stored count of followers in a partition.
type ReachRecord struct {
	Version int64
	Count   int
}

// ListEnd tells what the end of a timeline's list says.
type ListEnd byte

// The ends of a list.
const (
	ListMissing  ListEnd = iota // it was not built yet, or was given up: the next reader builds it
	ListBuilding                // older entries are being gathered
	ListComplete                // nothing older exists
	ListTrimmed                 // older entries have left it
)

// TimelineRecord is the list of a timeline as it is stored.
type TimelineRecord struct {
	ID         TimelineID
	End        ListEnd
	Generation int64
	Entries    []PostID         // newest first
	Foreign    int              // entries that are no posts' ids
	Sources    map[UserID]int64 // whose posts it gets besides its owner's, by the time of the follow
	Awaited    []PostID         // that the next reader puts on it
	Gap        PostID           // below which not all is kept that the next reader would put on it; 0 where all is
}

// PostRecord is a post as it is stored, also a deleted one.
type PostRecord struct {
	There    bool
	Author   UserID
	Deleted  bool
	Mentions []UserID
}

// Edge says that a timeline gets an author's posts: a home by a follow, a list by
// membership. Both directions are stored; a time of 0 says that one is missing.
type Edge struct {
	Timeline TimelineID
	Author   UserID
	Source   int64 // its time among the sources of the timeline
	Audience int64 // its time among the audience of the author
}

// NameClaim is a name as it is stored, and the user who has it.
type NameClaim struct {
	Folded string
	Holder UserID
}
