package live

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say how a [Hub] works. Zero fields but Node have a default.
type Options struct {
	Node        string        // names this process among those on the same database
	PresenceTTL time.Duration // how long the database believes that this process listens; 1 min
	QueueLength int           // events a subscriber may be behind before it is cut off; 1024
	CheckEvery  time.Duration // how often, about, a feed compares itself with its list; 45 s
	ProbeEvery  time.Duration // how long a channel may be silent before it is tried; 15 s
	ProbeWait   time.Duration // for what was sent to try a channel; 5 s
	Linger      time.Duration // how long a partition is listened to after its last subscriber left; 30 s
	CallTimeout time.Duration // of one call to the source; 5 s
	JoinTimeout time.Duration // of Subscribe; 15 s
	Parallel    int           // reads of feeds that go on at once; 16

	Metrics prometheus.Registerer // where to register those of the hub; nil nowhere
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
	return o
}
