package quota

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"retwis/internal/retwis"
)

// refusals counts, by what was refused.
type refusals map[retwis.Action]*atomic.Int64

func newRefusals() refusals {
	all := refusals{}
	for _, action := range []retwis.Action{retwis.ToRead, retwis.ToPost, retwis.ToFollow, retwis.ToLogIn, retwis.ToRegister} {
		all[action] = new(atomic.Int64)
	}
	return all
}

// Register has what was refused read by metrics.
func (q *Quotas) Register(with prometheus.Registerer) {
	for action, n := range q.refusals {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{
			Name:        "retwis_rate_limit_refusals_total",
			Help:        "Operations that were refused since a client did too much, by what there was too much of.",
			ConstLabels: prometheus.Labels{"action": string(action)},
		}, func() float64 { return float64(n.Load()) })
	}
}
