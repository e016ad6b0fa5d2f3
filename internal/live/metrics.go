package live

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register has the counters of the hub read whenever somebody wants to know them.
func (c *counters) register(with prometheus.Registerer) {
	gauge := func(n *atomic.Int64, name, help string) {
		promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, valueOf(n))
	}
	counter := func(n *atomic.Int64, name, help string) {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, valueOf(n))
	}
	gauge(&c.subscribers, "retwis_live_subscribers", "Subscriptions to timelines that are open.")
	gauge(&c.feeds, "retwis_live_timelines", "Timelines that have a subscriber.")
	counter(&c.delivered, "retwis_live_events_total", "Live events handed to subscribers, what is replayed left out.")
	counter(&c.replays, "retwis_live_replays_total", "Subscriptions that resumed from a cursor.")
	counter(&c.resets, "retwis_live_resets_total", "Subscribers that were told to fetch their timeline again.")
	counter(&c.slowConsumers, "retwis_live_slow_consumers_total", "Subscribers that were cut off, since they were too many events behind.")
	counter(&c.catchUps, "retwis_live_catch_ups_total", "Reads of what a timeline's subscribers missed, or might have missed.")
	counter(&c.silentConnections, "retwis_live_silent_connections_total", "Connections that were replaced, since they delivered nothing.")
	counter(&c.overflows, "retwis_live_overflows_total", "Times that messages came faster than they could be handled.")
}

func valueOf(n *atomic.Int64) func() float64 {
	return func() float64 { return float64(n.Load()) }
}

// Stats say what a [Hub] has done since it was made.
type Stats struct {
	Subscribers       int64 // open now
	Feeds             int64 // timelines with a subscriber now
	Delivered         int64 // live events handed to subscribers
	Replays           int64 // subscriptions that resumed from a cursor
	Resets            int64 // resets told to subscribers
	SlowConsumers     int64 // subscribers that were too slow
	CatchUps          int64 // reads of what a feed missed, or might have missed
	SilentConnections int64 // connections that were replaced because they delivered nothing
	Overflows         int64 // times that messages came faster than they could be handled
}

type counters struct {
	subscribers, feeds, delivered, replays, resets, slowConsumers, catchUps, silentConnections, overflows atomic.Int64
}

// Stats returns what the hub has done so far.
func (h *Hub) Stats() Stats {
	c := &h.counts
	return Stats{
		Subscribers:       c.subscribers.Load(),
		Feeds:             c.feeds.Load(),
		Delivered:         c.delivered.Load(),
		Replays:           c.replays.Load(),
		Resets:            c.resets.Load(),
		SlowConsumers:     c.slowConsumers.Load(),
		CatchUps:          c.catchUps.Load(),
		SilentConnections: c.silentConnections.Load(),
		Overflows:         c.overflows.Load(),
	}
}
