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
	counter(&c.cutOffs, "retwis_live_cut_offs_total", "Subscribers that were cut off, since they were too many events behind.")
	counter(&c.catchUps, "retwis_live_catch_ups_total", "Reads of what a timeline's subscribers missed, or might have missed.")
	counter(&c.deaf, "retwis_live_deaf_total", "Connections that were replaced, since they delivered nothing.")
	counter(&c.overflows, "retwis_live_overflows_total", "Times that messages came faster than they could be handled.")
}

func valueOf(n *atomic.Int64) func() float64 {
	return func() float64 { return float64(n.Load()) }
}
