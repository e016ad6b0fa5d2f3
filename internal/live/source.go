package live

import (
	"context"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

// Source is the database that holds the timelines and publishes their events.
type Source interface {
	PartitionOf(retwis.TimelineID) int
	PartitionOfPost(retwis.PostID) int
	Partitions() int
	// Newest returns the posts of the newest entries of a timeline, newest first.
	Newest(ctx context.Context, timeline retwis.TimelineID, count int) ([]retwis.PostID, error)
	// EventsSince returns all events of a timeline after a position, in one atomic read.
	EventsSince(context.Context, retwis.TimelinePosition) (pubsub.Replay, error)
	// Compare compares timelines of one partition with what their subscribers have received. It compares the first ones, at
	// least one.
	Compare(context.Context, []pubsub.Watched) (pubsub.Comparison, error)
	// FilterEpochs returns the filter epochs of users, in their order.
	FilterEpochs(context.Context, []retwis.UserID) ([]int64, error)
	// CurrentPosition returns the position of a timeline and its marker, which is zero if it was never marked.
	CurrentPosition(context.Context, retwis.TimelineID) (at retwis.TimelinePosition, marker retwis.Element, err error)
	// SetOnline registers presence: for the duration of ttl the partition publishes messages
	// about the timelines to the node. All timelines must be of one partition. It returns the
	// timelines without presence before the call.
	SetOnline(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) (absent []retwis.TimelineID, err error)
	SetOffline(ctx context.Context, node string, timelines []retwis.TimelineID) error
	// Listen calls handle for each message of a partition, in the order they were sent, until ctx is done. It passes a
	// message of kind pubsub.Joined whenever messages may have been lost.
	Listen(ctx context.Context, node string, partition int, handle func(pubsub.Message)) error
	// Probe publishes a message to the channel from a partition to the API process.
	Probe(ctx context.Context, node string, partition int) error
	// Shown returns the posts that entries show, in their order: nil for a deleted post, and for a repost that was undone.
	Shown(context.Context, []retwis.Element) ([]*retwis.Post, error)
}
