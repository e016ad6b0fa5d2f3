package cost

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// stop is why an operation had to stop.
type stop string

const (
	noBudget      stop = "budget"   // the budget of the client was used up
	largeResponse stop = "response" // the response exceeded [MaxResponse]
	unreadBytes   stop = "unread"   // too many responses waited for their readers
	keptBytes     stop = "memory"   // too much was kept in memory
	unpaidWork    stop = "unpaid"   // a mutation or an event exceeded its [Bound]
)

// totals count what operations have done.
type totals struct {
	work, beyond, refunded atomic.Int64
	stops                  map[stop]*atomic.Int64
}

func newTotals() *totals {
	t := &totals{stops: map[stop]*atomic.Int64{}}
	for _, reason := range []stop{noBudget, largeResponse, unreadBytes, keptBytes, unpaidWork} {
		t.stops[reason] = new(atomic.Int64)
	}
	return t
}

func (t *totals) add(final Final, stopped stop) {
	t.work.Add(int64(final.Work.Points()))
	t.beyond.Add(int64(final.Beyond))
	t.refunded.Add(int64(final.Refunded))
	if n := t.stops[stopped]; n != nil {
		n.Add(1)
	}
}

// Register registers the metrics of the operations that use the shares.
func (s *Shares) Register(with prometheus.Registerer) {
	counter := func(name, help, label, value string, n *atomic.Int64) {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{label: value},
		}, func() float64 { return float64(n.Load()) })
	}
	for kind, n := range map[string]*atomic.Int64{"work": &s.totals.work, "beyond": &s.totals.beyond, "refunded": &s.totals.refunded} {
		counter("retwis_operation_points_total", "Points of the work of operations, those charged beyond their prices, and those given back.", "kind", kind, n)
	}
	for reason, n := range s.totals.stops {
		counter("retwis_operation_stops_total", "Operations that had to stop while they ran, by reason.", "reason", string(reason), n)
	}
}
