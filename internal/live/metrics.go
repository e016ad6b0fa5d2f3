package live

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register registers metrics that read the counters of the hub.
func (c *counters) register(with prometheus.Registerer) {
	gauge := func(n *atomic.Int64, name, help string) {
		promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, valueOf(n))
	}
	counter := func(n *atomic.Int64, name, help string) {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, valueOf(n))
	}
	gauge(&c.subscribers, "retwis_live_subscribers", "Open subscriptions to timelines.")
	gauge(&c.feeds, "retwis_live_timelines", "Timelines with at least one subscriber.")
	counter(&c.delivered, "retwis_live_events_total", "Live events delivered to subscribers, without replayed events.")
	counter(&c.replays, "retwis_live_replays_total", "Subscriptions that resumed from a cursor.")
	counter(&c.resets, "retwis_live_resets_total", "Resets sent to subscribers, which then fetch their timeline again.")
	counter(&c.slowConsumers, "retwis_live_slow_consumers_total", "Subscribers disconnected because their queue was full.")
	counter(&c.catchUps, "retwis_live_catch_ups_total", "Reads of events that subscribers of a timeline missed or may have missed.")
	counter(&c.silentConnections, "retwis_live_silent_connections_total", "Redis connections replaced because they delivered nothing.")
	counter(&c.overflows, "retwis_live_overflows_total", "Times that messages arrived faster than the hub processed them.")
}

func valueOf(n *atomic.Int64) func() float64 {
	return func() float64 { return float64(n.Load()) }
}

// Stats are statistics of a [Hub]: the current numbers of subscribers and feeds, and counts since its creation.
type Stats struct {
	Subscribers       int64 // open subscriptions
	Feeds             int64 // timelines with at least one subscriber
	Delivered         int64 // live events delivered, without replayed events
	Replays           int64 // subscriptions that resumed from a cursor
	Resets            int64 // resets sent
	SlowConsumers     int64 // subscribers disconnected because their queue was full
	CatchUps          int64 // reads of events that a feed missed or may have missed
	SilentConnections int64 // connections replaced because they delivered nothing
	Overflows         int64 // overflows of an inbox
}

type counters struct {
	subscribers, feeds, delivered, replays, resets, slowConsumers, catchUps, silentConnections, overflows atomic.Int64
}

// Stats returns the current counts.
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
