package ratelimit

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// refusals counts refusals by action.
type refusals map[Action]*atomic.Int64

func newRefusals() refusals {
	all := refusals{}
	for _, policy := range (Policies{}).List() {
		all[policy.Action] = new(atomic.Int64)
	}
	return all
}

// Register registers the metrics of the limiter.
func (l *Limiter) Register(with prometheus.Registerer) {
	for action, n := range l.refusals {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{
			Name:        "retwis_rate_limit_refusals_total",
			Help:        "Operations refused by a rate limit, by action.",
			ConstLabels: prometheus.Labels{"action": string(action)},
		}, func() float64 { return float64(n.Load()) })
	}
}
