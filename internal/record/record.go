// Package record holds what the store and the consistency check agree on: the database as
// it is stored. Unlike the types for readers, records are not filtered, repaired or
// refilled. It does no I/O.
package record

import "retwis/internal/retwis"

// Account is the stored state of a user, the counters beside what they count.
type Account struct {
	AccountState

	ID        retwis.UserID
	NameOwner retwis.UserID // the user who owns the name; 0 if nobody does
	Listed    bool          // whether the search for usernames finds the name
	Unindexed int           // number of words of the names that the people search does not find
	Unlisted  bool          // whether the newest users lack the user although they contain older ones

	DisplayName string
	SearchWords []string // of the display name, as stored

	Posts     Counted // on the profile
	Following Counted // edges
	Followers Counted // the sum over the follower partitions

	Trimmed bool // whether older posts were trimmed from the profile

	FollowerPartitions map[int]FollowerPartition // follower partitions, as stored
	ListPartitions     map[int]bool              // partitions stored as holding lists with the user on them
	FollowersIn        map[int]int               // actual followers by partition, where there are any
	ListsIn            map[int]int               // actual lists by partition, where there are any
}

// AccountState is the part of an [Account] that other inspections need.
type AccountState struct {
	Active   bool
	Gone     bool // whether the user does not exist, or is deleted completely
	Username string
	Lists    []retwis.ListID
}

// Counted is a stored counter and the actual count.
type Counted struct{ Stored, Actual int }

// FollowerPartition is the stored count of an author's followers, or of a post's likers, in a partition.
type FollowerPartition struct {
	Version int64
	Count   int
}

// SearchEntry is an entry of the people search of a partition: a word and a user.
type SearchEntry struct {
	Text string        // as stored
	User retwis.UserID // 0 if the entry names none
}

// ListEnd is the state that the last element of a timeline's list records.
type ListEnd byte

// The states of the end of a list.
const (
	ListMissing  ListEnd = iota // never built, or evicted: the next reader builds the list
	ListBuilding                // older entries are being collected
	ListComplete                // nothing older exists
	ListTrimmed                 // older entries were trimmed
)

// Timeline is the stored list of a timeline.
type Timeline struct {
	ID      retwis.TimelineID
	End     ListEnd
	Epoch   int64
	Entries []retwis.Element        // newest first
	Foreign int                     // number of entries that are not elements
	Sources map[retwis.UserID]int64 // authors whose posts it receives besides its owner's, by the time of the follow
	Pending []retwis.Element        // entries that the next read merges into the list
	Marker  string                  // as stored, or empty
	Gap     retwis.PostID           // below it, posts that the next read would merge are not all held; 0 if they are

	// Displaced is the greatest id that a trimmed list lost below a late entry, or 0. Pages below the list gather such posts.
	Displaced retwis.PostID
}

// Post is a stored post or repost; it may be deleted.
type Post struct {
	Exists   bool
	Author   retwis.UserID // the author or the reposter
	Answered retwis.UserID // of a reply: the author of the post answered, if another user
	ReplyTo  retwis.PostID // of a reply: the post answered
	Reposted retwis.PostID // of a repost
	Quoted   retwis.PostID // of a quote
	Deleted  bool
	Mentions []retwis.UserID
	Tags     []retwis.TagID
}

// RefersTo returns the post that the post refers to, 0 if there is none.
func (p Post) RefersTo(kind retwis.ReferenceKind) retwis.PostID {
	switch kind {
	case retwis.QuoteReference:
		return p.Quoted
	case retwis.RepostReference:
		return p.Reposted
	default:
		return p.ReplyTo
	}
}

// Element returns the element by which lists hold the post or repost with an id.
func (p Post) Element(id retwis.PostID) retwis.Element {
	return retwis.NewElement(id, p.Author, p.Answered, p.Reposted)
}

// Edge says that a timeline receives an author's posts: a home by a follow, a list by
// membership. Both directions are stored; a time of 0 means that one is missing.
type Edge struct {
	Timeline retwis.TimelineID
	Author   retwis.UserID
	Source   int64 // its time among the sources of the timeline
	Audience int64 // its time among the audience of the author
}

// Referenced names the replies or the quotes of a post.
type Referenced struct {
	Kind retwis.ReferenceKind
	Post retwis.PostID
}

// References are the stored replies or quotes of a post.
type References struct {
	Held    map[retwis.PostID]bool // whether each one comes first, as replies of the author of the post do
	Foreign []string               // entries that are no post ids with their score
}

// Reference is a reply or quote, and the post that it refers to.
type Reference struct {
	ID retwis.PostID
	To Referenced
}

// PostLikes are the stored likes of a post.
type PostLikes struct {
	Exists     bool                      // whether the post exists, and is not deleted
	Total      Counted                   // the sum over the like partitions
	Partitions map[int]FollowerPartition // like partitions, as stored
	LikersIn   map[int]int               // actual likers by partition, where there are any
	Changed    map[int]bool              // partitions whose worker is about to count the likers
}

// Like is a like whose two directions differ; a time of 0 means that one is missing.
type Like struct {
	User  retwis.UserID
	Post  retwis.PostID
	Liked int64 // its time among the likes of the user
	Liker int64 // its time among the likers of the post
}

// Tag is the stored state of a hashtag and of the claim of a name.
type Tag struct {
	Exists bool   // whether the hashtag has a record
	Name   string // in the record

	Holder retwis.TagID // the hashtag that claims the name, 0 if none does
}

// Scanned are subjects that a scan of the keys has found.
type Scanned struct {
	Users      []retwis.UserID
	Names      []NameClaim
	Referenced []Referenced    // sets of replies and quotes
	Liked      []retwis.PostID // posts that have likes, or like partitions
	Tags       []retwis.TagID  // hashtags that have a record or a timeline
	TagNames   []string        // folded names that hashtags claim
}

// NameClaim is a stored username and the user who owns it.
type NameClaim struct {
	Folded string
	Owner  retwis.UserID
}
