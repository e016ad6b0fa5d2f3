package live

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/cost"
)

// Options configure a [Hub]. Node is required. Zero values of the other fields select the
// defaults.
type Options struct {
	Node                string        // name of this process, unique among the processes on the database
	PresenceTTL         time.Duration // lifetime of presence that is not refreshed; 1 min by default
	QueueLength         int           // events that may wait for a subscriber before it is disconnected; 1024 by default
	CheckEvery          time.Duration // mean time between two comparisons of a feed with its list; 45 s by default
	ProbeEvery          time.Duration // silence of a channel after which it is probed; 15 s by default
	ProbeWait           time.Duration // time that a probe may take to arrive; 5 s by default
	Linger              time.Duration // time that a channel stays subscribed after its last subscriber left; 30 s by default
	CallTimeout         time.Duration // timeout of a call to the source; 5 s by default
	JoinTimeout         time.Duration // timeout of Attach; 15 s by default
	Parallel            int           // concurrent catch-ups; 16 by default
	MaxFirst            int           // subscriptions of one network to one timeline that have its events before others; 32 by default; below 0 there are none
	MaxFirstOfPartition int           // the same to all timelines of a partition, if others have some there, too; 1024 by default
	MaxOfUser           int           // subscriptions of one user to one timeline; 100 by default; below 0 there is no limit

	Shares  *cost.Shares          // that reads of the hub wait for; those of the hub alone by default
	Metrics prometheus.Registerer // registry of the hub's metrics; nil registers none
}

func (o Options) withDefaults() Options {
	o.PresenceTTL = cmp.Or(o.PresenceTTL, time.Minute)
	o.QueueLength = cmp.Or(o.QueueLength, 1024)
	o.CheckEvery = cmp.Or(o.CheckEvery, 45*time.Second)
	o.ProbeEvery = cmp.Or(o.ProbeEvery, 15*time.Second)
	o.ProbeWait = cmp.Or(o.ProbeWait, 5*time.Second)
	o.Linger = cmp.Or(o.Linger, 30*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, 5*time.Second)
	o.JoinTimeout = cmp.Or(o.JoinTimeout, 15*time.Second)
	o.Parallel = cmp.Or(o.Parallel, 16)
	o.MaxFirst = cmp.Or(o.MaxFirst, 32)
	o.MaxFirstOfPartition = cmp.Or(o.MaxFirstOfPartition, 1024)
	o.MaxOfUser = cmp.Or(o.MaxOfUser, 100)
	if o.Shares == nil {
		o.Shares = cost.NewShares()
	}
	return o
}
