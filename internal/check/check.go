// Package check compares a database with its definition: timelines with what those they
// follow posted, both directions of every edge, counts with what they count, and the newest
// users with the accounts. Of the public timeline and of mentions, which are gathered from
// nowhere, it looks at what is there. It does so while the service works: what is wrong only because something is under way is looked at
// again once that has been carried out, and not reported.
package check

import (
	"context"
	"time"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// Database is what a check needs of the database.
type Database interface {
	Scan(ctx context.Context, found func([]retwis.UserID, []record.NameClaim) error) error
	AccountRecord(ctx context.Context, id retwis.UserID) (record.Account, error)
	ProfileRecord(ctx context.Context, id retwis.UserID) (posts []retwis.PostID, foreign int, err error)
	TimelineRecord(ctx context.Context, id retwis.TimelineID) (record.Timeline, error)
	PostRecords(ctx context.Context, ids []retwis.PostID) ([]record.Post, error)
	Posted(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.PostID, error)
	SourceEdges(ctx context.Context, id retwis.TimelineID) ([]record.Edge, error)
	AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partition int) ([]record.Edge, error)
	Edges(ctx context.Context, id retwis.TimelineID, authors []retwis.UserID) ([]record.Edge, error)
	Gone(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error)
	NameHolder(ctx context.Context, folded string) (retwis.UserID, bool, error)
	Partitions() int
	PartitionOfUser(id retwis.UserID) int
	UnfitNewest(ctx context.Context, partition int) ([]retwis.UserID, error)

	HomeCap() (entries, slack int)
	Lateness() int
	OutboxStarts(ctx context.Context) ([]string, error)
	OutboxEnds(ctx context.Context) ([]string, error)

	Repairer
}

// Repairer mends what a check finds. Every step is safe while the service works, and may be
// repeated.
type Repairer interface {
	RenewIfKept(ctx context.Context, id retwis.TimelineID) (bool, error)
	Weed(ctx context.Context, id retwis.TimelineID, stay map[retwis.PostID]int) error
	PlacePost(ctx context.Context, author retwis.UserID, post retwis.PostID) error
	MendEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error
	MendReach(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partition int) error
	MendCounts(ctx context.Context, id retwis.UserID) error
	MendName(ctx context.Context, folded string, bearer retwis.UserID) (bool, error)
	MendNewest(ctx context.Context, partition int, id retwis.UserID) error
}

// Options say what to check. Zero values take the defaults.
type Options struct {
	Sample        int           // users to check, chosen at random; 0 checks all
	Seed          uint64        // of the choice: the same users for the same seed
	Repair        bool          // whether to mend what is found
	Parallel      int           // users looked at at once, 16
	Inspections   int           // at what seems to be wrong, before it is reported, 6 at the most
	SettleTimeout time.Duration // for what is under way to be carried out before each further look, 1 min

	// Progress is called when a part of the check begins, with how much there is to do. The
	// first function returned is called with each bit done, the other one at the end.
	Progress func(name string, total int) (add func(int), end func())
}

func (o Options) withDefaults() Options {
	if o.Parallel == 0 {
		o.Parallel = 16
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
