package live

import (
	"context"
	"time"

	"retwis/internal/retwis"
)

// Source is where timelines are held and where news of them comes from.
type Source interface {
	PartitionOf(retwis.TimelineID) int
	// Since returns everything that happened to a timeline since a position, in one step.
	Since(context.Context, retwis.TimelinePosition) (retwis.Replay, error)
	Now(context.Context, retwis.TimelineID) (retwis.TimelinePosition, error)
	// Enter asks for messages about timelines of one partition, until ttl has passed.
	Enter(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) error
	Leave(ctx context.Context, node string, timelines []retwis.TimelineID) error
	// Listen hands over the messages of a partition in the order they were sent, until
	// ctx is done. It says LiveJoined whenever some may have been lost.
	Listen(ctx context.Context, node string, partition int, handle func(retwis.LiveMessage)) error
	// Probe sends a message to who listens as this node to a partition.
	Probe(ctx context.Context, node string, partition int) error
	// Posts returns nil for posts that are deleted.
	Posts(context.Context, []retwis.PostID) ([]*retwis.Post, error)
}
