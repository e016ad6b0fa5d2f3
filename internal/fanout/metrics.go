package fanout

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register has the counters of the worker read whenever somebody wants to know them.
func (w *Worker) register(with prometheus.Registerer) {
	c := &w.counts
	counter(with, &c.pushed, "retwis_fanout_deliveries_total", "Posts put on timelines, one for each timeline.")
	counter(with, &c.calls, "retwis_fanout_calls_total", "Calls that carried an entry on in a partition.")
	counter(with, &c.moved, "retwis_fanout_redeliveries_total", "Calls that found carried out already what they were to do, and did nothing.")
	counter(with, &c.retries, "retwis_fanout_retries_total", "Failures of entries, which are then tried again or given up.")
	counter(with, &c.entries, "retwis_fanout_entries_total", "Entries of outboxes that were carried out or given up.")
	counter(with, &c.buried, "retwis_fanout_dead_letters_total", "Entries that were given up: see retwis deadletter.")
	promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "retwis_fanout_outboxes", Help: "Outboxes that this process serves.",
	}, func() float64 { return float64(w.serves()) })
}

func (s *Sweeper) register(with prometheus.Registerer) {
	c := &s.counts
	counter(with, &c.sweeps, "retwis_sweeps_total", "Sweeps of idle timelines that were ended.")
	counter(with, &c.looked, "retwis_sweep_looked_total", "Timelines that sweeps looked at.")
	counter(with, &c.removed, "retwis_sweep_removed_total", "Idle timelines that were given up until somebody reads them.")
}

func counter(with prometheus.Registerer, n *atomic.Int64, name, help string) {
	promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n.Load()) })
}
