// Package check compares a database with its definition: timelines with what those they
// follow posted, both directions of every edge, counts with what they count, and the newest
// users with the accounts. Of the public timeline and of mentions, which are gathered from
// nowhere, it looks at what is there. It does so while the service works: what is wrong only because something is under way is looked at
// again once that has been carried out, and not reported.
package check

import (
	"context"
	"time"

	"retwis/internal/retwis"
)

// Database is what a check needs of the database.
type Database interface {
	Scan(ctx context.Context, found func([]retwis.UserID, []retwis.NameClaim) error) error
	AccountRecord(ctx context.Context, id retwis.UserID) (retwis.AccountRecord, error)
	ProfileRecord(ctx context.Context, id retwis.UserID) (posts []retwis.PostID, foreign int, err error)
	TimelineRecord(ctx context.Context, id retwis.TimelineID) (retwis.TimelineRecord, error)
	PostRecords(ctx context.Context, ids []retwis.PostID) ([]retwis.PostRecord, error)
	Posted(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.PostID, error)
	SourceEdges(ctx context.Context, id retwis.TimelineID) ([]retwis.Edge, error)
	AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partition int) ([]retwis.Edge, error)
	Edges(ctx context.Context, id retwis.TimelineID, authors []retwis.UserID) ([]retwis.Edge, error)
	Gone(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error)
	NameHolder(ctx context.Context, folded string) (retwis.UserID, bool, error)
	Partitions() int
	PartitionOfUser(id retwis.UserID) int
	UnfitNewest(ctx context.Context, partition int) ([]retwis.UserID, error)

	HomeCap() (entries, slack int)
	Lateness() int
	OutboxStarts(ctx context.Context) ([]string, error)
	OutboxEnds(ctx context.Context) ([]string, error)

	Mender
}

// Mender mends what a check finds. Every step is safe while the service works, and may be
// repeated.
type Mender interface {
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
	Sample   int           // users to check, chosen at random; 0 checks all
	Seed     uint64        // of the choice: the same users for the same seed
	Repair   bool          // whether to mend what is found
	Parallel int           // users looked at at once, 16
	Looks    int           // at what seems to be wrong, before it is reported, 6 at the most
	Patience time.Duration // for what is under way to be carried out before each further look, 1 min

	// Progress is called when a part of the check begins, with how much there is to do. The
	// first function returned is called with each bit done, the other one at the end.
	Progress func(name string, total int) (add func(int), end func())
}

func (o Options) withDefaults() Options {
	if o.Parallel == 0 {
		o.Parallel = 16
	}
	if o.Looks == 0 {
		o.Looks = 6
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, int) (func(int), func()) { return func(int) {}, func() {} }
	}
	return o
}

// Report is what a check found.
type Report struct {
	Users     int           `json:"users"`
	Timelines int           `json:"timelines"` // of users
	Entries   int           `json:"entries"`   // of these timelines
	Counts    map[Kind]int  `json:"counts"`    // of findings
	Examples  []Finding     `json:"examples"`
	Repaired  int           `json:"repaired"`  // findings that a repair was made for
	Unsettled int           `json:"unsettled"` // that could not be told from what is under way
	Took      time.Duration `json:"-"`

	edges map[place]bool // those reported, which are come by from both ends
}

// Findings returns how many there are.
func (r Report) Findings() int {
	total := 0
	for _, n := range r.Counts {
		total += n
	}
	return total
}

// PerMillion returns how many findings of a kind there are for each million entries.
func (r Report) PerMillion(kind Kind) float64 {
	return float64(r.Counts[kind]) * 1e6 / float64(max(r.Entries, 1))
}

// examplesKept is how many findings of a kind a report shows.
const examplesKept = 5

// edgesKept bounds what is remembered of edges: beyond, one may be counted twice.
const edgesKept = 100_000

func (r *Report) add(f Finding) {
	if f.Kind == HalfEdge {
		if r.edges[f.place()] {
			return
		}
		if len(r.edges) < edgesKept {
			r.edges[f.place()] = true
		}
	}
	r.Counts[f.Kind]++
	if r.Counts[f.Kind] <= examplesKept {
		r.Examples = append(r.Examples, f)
	}
}
