package rdb

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"
)

// metrics measure exchanges with Redis.
type metrics struct {
	scripts             *prometheus.HistogramVec
	commands, pipelines prometheus.Observer
	failures, dials     prometheus.Counter
}

// exchangeTimes are the bounds of times of exchanges with Redis, in seconds: from what a
// command takes on the same machine up to the deadline.
func exchangeTimes() []float64 {
	return []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
}

// newMetrics registers the metrics of a database; nil registers none.
func newMetrics(register prometheus.Registerer) *metrics {
	with := promauto.With(register)
	exchanges := with.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "retwis_redis_round_trip_seconds",
		Help:    "Time from sending to Redis to having the reply, of single commands and of pipelines.",
		Buckets: exchangeTimes(),
	}, []string{"kind"})
	return &metrics{
		scripts: with.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_redis_script_seconds",
			Help:    "Time from sending a script's call to Redis to having the reply; calls of one pipeline have equal shares of its time.",
			Buckets: exchangeTimes(),
		}, []string{"script"}),
		commands:  exchanges.WithLabelValues("command"),
		pipelines: exchanges.WithLabelValues("pipeline"),
		failures: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_redis_failures_total",
			Help: "Exchanges with Redis that failed by the connection, the server or the cluster.",
		}),
		dials: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_redis_dials_total",
			Help: "Connections to Redis that were opened, or tried to be.",
		}),
	}
}

// PoolStats returns how the connections for commands that return at once are used.
func (db *DB) PoolStats() *redis.PoolStats {
	if stats := db.Client.PoolStats(); stats != nil {
		return stats
	}
	return &redis.PoolStats{}
}
