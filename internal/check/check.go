// Package check compares derived data with the posts, follows and users that it derives from, and repairs differences. It
// works while the service runs.
//
// # Definition of a home
//
// A home is the set of the undeleted posts of its owner and of the users the owner follows,
// each once, and the posts of one author newest first. A list timeline is defined likewise by
// the members of the list. A stored list may differ from the definition in four ways that are
// not errors:
//
//   - It holds at most the cap of entries. After trimming, posts that are not newer than all of the
//     last entries (lateness) may be missing, because a late post can displace a newer one.
//   - It lacks posts of large authors until its next reader merges them (see [record.Timeline]).
//   - Deleted posts keep their entries until they are trimmed; readers skip them.
//   - Posts of different authors are in order of arrival, not of their ids.
//
// An entry is the element that the record of its post or repost determines. An author's posts, replies and reposts
// are those of the author's profile. Which replies a timeline shows is decided when it is read, so the check does not
// concern itself with it; but the public timeline holds no replies to other users.
//
// The replies of a post are the undeleted posts that answer it, down to the oldest that was not trimmed. The same holds for its quotes
// and its reposts.
//
// A like has two directions, and its post exists. The number of likes of a post is the number of its likers.
//
// A marker is an entry of its list, or stands for a position in it: a post that was created, whose element it is unless the
// post is deleted.
//
// The timeline of a hashtag holds the posts whose records name the hashtag, down to its end like a home. A post names its hashtags
// from its creation on. Each hashtag claims its name.
//
// Mentions and the public timeline cannot be derived from other data. The check verifies their entries only.
//
// The check also compares both directions of each edge, the counts, the follower partitions,
// the username claims, the people search, the profiles and the newest users with the data that they
// derive from.
//
// # Concurrent changes
//
// A difference may result from an entry that the worker has not yet delivered. The check therefore waits until the worker
// has processed all entries that are in the outboxes now, and inspects the subject again. It reports only differences
// that persist.
package check

import (
	"context"
	"time"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// Database is the database to check.
type Database interface {
	// Passes reports whether a failure passes by itself, as one of the connection does.
	Passes(err error) bool
	Scan(ctx context.Context, found func(record.Scanned) error) error
	AccountRecord(ctx context.Context, id retwis.UserID) (record.Account, error)
	AccountState(ctx context.Context, id retwis.UserID) (record.AccountState, error)
	ProfileRecord(ctx context.Context, id retwis.UserID) (entries []retwis.Element, foreign int, err error)
	TimelineRecord(ctx context.Context, id retwis.TimelineID) (record.Timeline, error)
	PostRecords(ctx context.Context, ids []retwis.PostID) ([]record.Post, error)
	Assigned(ctx context.Context, id retwis.PostID) (bool, error)
	ReferencesRecord(ctx context.Context, to record.Referenced) (record.References, error)
	LostReferences(ctx context.Context, references []record.Reference) ([]record.Reference, error)
	// RepostsOfUser returns what the database stores as the reposts of a user, by the post that each one shows.
	RepostsOfUser(ctx context.Context, user retwis.UserID) (map[string]string, error)
	// StaleHiddenReposters returns the members of the user's set of hidden reposters whom the user does not follow.
	StaleHiddenReposters(ctx context.Context, user retwis.UserID) ([]string, error)
	TagRecord(ctx context.Context, id retwis.TagID) (record.Tag, error)
	// TagHolder returns the hashtag that claims a folded name, 0 if the claim is malformed, and false if none does.
	TagHolder(ctx context.Context, folded string) (retwis.TagID, bool, error)
	PostLikes(ctx context.Context, post retwis.PostID) (record.PostLikes, error)
	LikersOf(ctx context.Context, post retwis.PostID, partitions []int) ([]record.Like, error)
	LikesOf(ctx context.Context, user retwis.UserID) ([]record.Like, error)
	PostsDownTo(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.Element, error)
	// SourceEdges returns the edges from homes and lists whose directions differ, and the authors of the other edges of homes.
	SourceEdges(ctx context.Context, ids []retwis.TimelineID) ([]record.Edge, []retwis.UserID, error)
	AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partitions []int) ([]record.Edge, error)
	Edges(ctx context.Context, id retwis.TimelineID, authors []retwis.UserID) ([]record.Edge, error)
	DeletedUsers(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error)
	NameOwner(ctx context.Context, folded string) (retwis.UserID, bool, error)
	Partitions() int
	PartitionOfUser(id retwis.UserID) int
	StaleNewestUsers(ctx context.Context, partition int) ([]retwis.UserID, error)
	StaleSearchEntries(ctx context.Context, partition int) ([]record.SearchEntry, error)

	HomeCap() (entries, slack int)
	Lateness() int
	OutboxStarts(ctx context.Context) ([]string, error)
	OutboxEnds(ctx context.Context) ([]string, error)

	Repairer
}

// Repairer repairs findings. Each operation is idempotent and safe while the service runs.
type Repairer interface {
	RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error)
	RemoveEntries(ctx context.Context, id retwis.TimelineID, stay map[retwis.Element]int) error
	RepairMarker(ctx context.Context, id retwis.TimelineID, marker string) error
	RepairProfileEntry(ctx context.Context, author retwis.UserID, entry retwis.Element) error
	RepairEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error
	RepairAuthorPartition(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partition int) error
	RepairReference(ctx context.Context, to record.Referenced, entry string) error
	RepairRepostOfUser(ctx context.Context, user retwis.UserID, post string) error
	RepairHiddenReposter(ctx context.Context, user retwis.UserID, reposter string) error
	RepairTag(ctx context.Context, folded string, id retwis.TagID) error
	InsertEntry(ctx context.Context, id retwis.TimelineID, entry retwis.Element) error
	RepairLike(ctx context.Context, user retwis.UserID, post retwis.PostID) error
	RepairLikeCount(ctx context.Context, post retwis.PostID, partition int) error
	RepairCounts(ctx context.Context, id retwis.UserID) error
	RepairName(ctx context.Context, folded string, bearer retwis.UserID) (bool, error)
	RepairSearchWords(ctx context.Context, id retwis.UserID, displayName string) error
	RepairSearchEntry(ctx context.Context, partition int, entry record.SearchEntry) error
	RepairNewestUser(ctx context.Context, partition int, id retwis.UserID) error
}

// Options configure a check. Zero values select the defaults.
type Options struct {
	Sample        int           // number of random users to check; 0 checks all users
	Seed          uint64        // seed of the random sample
	Repair        bool          // whether to repair findings
	Parallel      int           // concurrent inspections; 4 by default, which leaves the database time for others
	Inspections   int           // maximum number of inspections of a subject; 6 by default
	SettleTimeout time.Duration // time to wait for outboxes before each repeated inspection; 1 min by default

	// Progress is called at the start of each phase with the amount of work. The check calls
	// add after each part of the phase with the amount done, and end once at the end.
	Progress func(name string, total int) (add func(int), end func())
}

func (o Options) withDefaults() Options {
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	if o.Inspections == 0 {
		o.Inspections = 6
	}
	if o.SettleTimeout == 0 {
		o.SettleTimeout = time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, int) (func(int), func()) { return func(int) {}, func() {} }
	}
	return o
}
