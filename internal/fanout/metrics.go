package fanout

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register registers metrics that read the counters of the worker.
func (w *Worker) register(with prometheus.Registerer) {
	c := &w.counts
	counter(with, &c.pushed, "retwis_fanout_pushes_total", "Posts pushed onto timelines; each timeline counts.")
	counter(with, &c.calls, "retwis_fanout_calls_total", "Calls that advanced the delivery of an entry in a partition.")
	counter(with, &c.redeliveries, "retwis_fanout_redeliveries_total", "Calls after the first one to a target that pushed to nobody and did not complete it.")
	counter(with, &c.retries, "retwis_fanout_retries_total", "Failed attempts to process an entry.")
	counter(with, &c.entries, "retwis_fanout_entries_total", "Outbox entries completed or moved to the dead-letter queue.")
	counter(with, &c.silent, "retwis_fanout_silent_deletions_total", "Deletions that waited too long to be announced to watched timelines.")
	counter(with, &c.deadLetters, "retwis_fanout_dead_letters_total", "Entries moved to the dead-letter queue: see retwis deadletter.")
	promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "retwis_fanout_outboxes", Help: "Outboxes that this process serves.",
	}, func() float64 { return float64(w.servedCount()) })
}

func (s *Sweeper) register(with prometheus.Registerer) {
	c := &s.counts
	counter(with, &c.sweeps, "retwis_sweeps_total", "Completed sweeps of idle timelines.")
	counter(with, &c.scanned, "retwis_sweep_scanned_total", "Timelines that sweeps inspected.")
	counter(with, &c.evicted, "retwis_sweep_evicted_total", "Idle timelines that sweeps evicted; the next read rebuilds them.")
}

func counter(with prometheus.Registerer, n *atomic.Int64, name, help string) {
	promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n.Load()) })
}

// Stats are counts since the creation of the worker.
type Stats struct {
	Pushed       int64 // posts pushed onto timelines
	Calls        int64 // calls that advanced a delivery
	Redeliveries int64 // calls that found other progress than expected and changed nothing
	Entries      int64 // entries completed or moved to the dead-letter queue
	Silent       int64 // deletions that were no longer announced to watched timelines
	DeadLetters  int64 // entries moved to the dead-letter queue
	Retries      int64 // failed attempts
}

type counts struct{ pushed, calls, redeliveries, entries, silent, deadLetters, retries atomic.Int64 }

// Stats returns the current counts.
func (w *Worker) Stats() Stats {
	return Stats{
		Pushed:       w.counts.pushed.Load(),
		Calls:        w.counts.calls.Load(),
		Redeliveries: w.counts.redeliveries.Load(),
		Entries:      w.counts.entries.Load(),
		Silent:       w.counts.silent.Load(),
		DeadLetters:  w.counts.deadLetters.Load(),
		Retries:      w.counts.retries.Load(),
	}
}
