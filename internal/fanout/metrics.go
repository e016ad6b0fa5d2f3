package fanout

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register has the counters of the worker read whenever somebody wants to know them.
func (w *Worker) register(with prometheus.Registerer) {
	c := &w.counts
	counter(with, &c.pushed, "retwis_fanout_pushes_total", "Posts put on timelines, one for each timeline.")
	counter(with, &c.calls, "retwis_fanout_calls_total", "Calls that carried an entry on in a partition.")
	counter(with, &c.redeliveries, "retwis_fanout_redeliveries_total", "Calls that found carried out already what they were to do, and did nothing.")
	counter(with, &c.retries, "retwis_fanout_retries_total", "Failures of entries, which are then tried again or given up.")
	counter(with, &c.entries, "retwis_fanout_entries_total", "Entries of outboxes that were carried out or given up.")
	counter(with, &c.deadLetters, "retwis_fanout_dead_letters_total", "Entries that were given up: see retwis deadletter.")
	promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "retwis_fanout_outboxes", Help: "Outboxes that this process serves.",
	}, func() float64 { return float64(w.servedCount()) })
}

func (s *Sweeper) register(with prometheus.Registerer) {
	c := &s.counts
	counter(with, &c.sweeps, "retwis_sweeps_total", "Sweeps of idle timelines that were ended.")
	counter(with, &c.scanned, "retwis_sweep_scanned_total", "Timelines that sweeps looked at.")
	counter(with, &c.evicted, "retwis_sweep_evicted_total", "Idle timelines that were given up until somebody reads them.")
}

func counter(with prometheus.Registerer, n *atomic.Int64, name, help string) {
	promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n.Load()) })
}

// Stats are counts since the worker was made.
type Stats struct {
	Pushed       int64 // posts put on timelines
	Calls        int64 // calls that carried an entry on
	Redeliveries int64 // calls that found the entry elsewhere than expected, and did nothing
	Entries      int64 // entries carried out
	DeadLetters  int64 // entries given up
	Retries      int64 // failures of entries
}

type counts struct{ pushed, calls, redeliveries, entries, deadLetters, retries atomic.Int64 }

// Stats returns what the worker has done so far.
func (w *Worker) Stats() Stats {
	return Stats{
		Pushed:       w.counts.pushed.Load(),
		Calls:        w.counts.calls.Load(),
		Redeliveries: w.counts.redeliveries.Load(),
		Entries:      w.counts.entries.Load(),
		DeadLetters:  w.counts.deadLetters.Load(),
		Retries:      w.counts.retries.Load(),
	}
}
