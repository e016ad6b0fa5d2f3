package rdb

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"
)

// metrics measure round trips to Redis.
type metrics struct {
	scripts             *prometheus.HistogramVec
	commands, pipelines prometheus.Observer
	failures, dials     prometheus.Counter
}

// roundTripBuckets returns the histogram bounds of round trips in seconds, from a command on the same machine
// up to the default timeout.
func roundTripBuckets() []float64 {
	return []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
}

// newMetrics registers the metrics of a database; nil registers none.
func newMetrics(register prometheus.Registerer) *metrics {
	with := promauto.With(register)
	roundTrips := with.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "retwis_redis_round_trip_seconds",
		Help:    "Time from sending a command or a pipeline to Redis to receiving the reply.",
		Buckets: roundTripBuckets(),
	}, []string{"kind"})
	return &metrics{
		scripts: with.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_redis_script_seconds",
			Help:    "Time from sending a script call to Redis to receiving the reply. Calls of one pipeline have equal shares of its time.",
			Buckets: roundTripBuckets(),
		}, []string{"script"}),
		commands:  roundTrips.WithLabelValues("command"),
		pipelines: roundTrips.WithLabelValues("pipeline"),
		failures: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_redis_failures_total",
			Help: "Round trips to Redis that failed because of the connection, the server or the cluster.",
		}),
		dials: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_redis_dials_total",
			Help: "Attempts to open a connection to Redis.",
		}),
	}
}

// PoolStats returns the statistics of the connection pool of [DB.Client].
func (db *DB) PoolStats() *redis.PoolStats {
	if stats := db.Client.PoolStats(); stats != nil {
		return stats
	}
	return &redis.PoolStats{}
}
