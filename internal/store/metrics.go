package store

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are what a store tells about itself.
type metrics struct {
	pages             prometheus.Observer
	refills, rebuilds prometheus.Counter
}

// newMetrics registers the metrics of a store, with nil nowhere.
func newMetrics(register prometheus.Registerer) *metrics {
	with := promauto.With(register)
	return &metrics{
		pages: with.NewHistogram(prometheus.HistogramOpts{
			Name:    "retwis_page_posts",
			Help:    "Posts on a page of a timeline that was read.",
			Buckets: []float64{0, 1, 5, 10, 20, 50, 100},
		}),
		refills: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_page_refills_total",
			Help: "Reads beyond the first that pages needed: posts on them were deleted, or they reach below what a list keeps.",
		}),
		rebuilds: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_timeline_rebuilds_total",
			Help: "Homes and lists that were built anew, since they were not there or not whole.",
		}),
	}
}

// collector asks the store for what it knows when somebody wants to know it.
type collector struct {
	store *Store

	up, writable, age, length *prometheus.Desc
	connections               *prometheus.Desc
	waits, exhausted          *prometheus.Desc
}

// collectTime bounds the exchange that a collection makes.
const collectTime = 2 * time.Second

func newCollector(s *Store) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &collector{
		store:       s,
		up:          desc("retwis_redis_up", "Whether all outboxes could be read for these metrics: 1 or 0."),
		writable:    desc("retwis_partition_writable", "Whether a partition accepted a write within the last 5 seconds: 1 or 0.", "partition"),
		age:         desc("retwis_outbox_oldest_seconds", "Age of the oldest entry of an outbox, 0 of an empty one: how far fan-out lags behind.", "partition"),
		length:      desc("retwis_outbox_entries", "Entries of an outbox that are not carried out, or not trimmed yet.", "partition"),
		connections: desc("retwis_redis_connections", "Open connections to Redis for commands that do not wait, by state.", "state"),
		waits:       desc("retwis_redis_pool_waits_total", "Commands that waited for a connection to Redis to be free."),
		exhausted:   desc("retwis_redis_pool_timeouts_total", "Commands that failed, since no connection to Redis was free in time."),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.up, c.writable, c.age, c.length, c.connections, c.waits, c.exhausted} {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	up := 1.0
	for number, b := range c.store.Outbox.Backlogs(ctx) {
		if b.Err != nil {
			c.store.log.WarnContext(ctx, "store: metrics lack an outbox", "outbox", number, "err", b.Err)
			up = 0
			continue
		}
		gauge(c.age, b.Oldest.Seconds(), strconv.Itoa(number))
		gauge(c.length, float64(b.Entries), strconv.Itoa(number))
	}
	gauge(c.up, up)
	for number, writable := range c.store.Health.Writable() {
		value := 0.0
		if writable {
			value = 1
		}
		gauge(c.writable, value, strconv.Itoa(number))
	}

	pool := c.store.db.PoolStats()
	gauge(c.connections, float64(pool.TotalConns-pool.IdleConns), "busy")
	gauge(c.connections, float64(pool.IdleConns), "idle")
	to <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(pool.WaitCount))
	to <- prometheus.MustNewConstMetric(c.exhausted, prometheus.CounterValue, float64(pool.Timeouts))
}
