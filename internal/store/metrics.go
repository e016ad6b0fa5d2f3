package store

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"retwis/internal/retwis"
	"retwis/internal/store/script"
)

// metrics are the metrics of a store.
type metrics struct {
	pages             prometheus.Observer
	refills, rebuilds prometheus.Counter
	earlyEnds         *prometheus.CounterVec
	markers           prometheus.Counter
	likes             *prometheus.CounterVec
	reposts           *prometheus.CounterVec
	tags              *prometheus.CounterVec
	likeCounts        prometheus.Counter
}

// The lists whose pages may end early, besides replies and quotes.
const (
	timelineList = "timeline"
	likedList    = "likes"
)

// Changes of hashtags.
const (
	tagCreated = "created"
	tagDropped = "dropped"
)

// newMetrics registers the metrics of a store; nil registers none.
func newMetrics(register prometheus.Registerer) *metrics {
	with := promauto.With(register)
	likes := with.NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_likes_total",
		Help: "Calls by which users liked a post (like) or stopped liking it (unlike).",
	}, []string{"change"})
	for _, change := range []script.Name{script.Like, script.Unlike} {
		likes.WithLabelValues(change.Base()) // served from the beginning
	}
	reposts := with.NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_reposts_total",
		Help: "Calls by which users reposted a post (repost) or undid that (undo_repost).",
	}, []string{"change"})
	for _, change := range []script.Name{script.Repost, script.UndoRepost} {
		reposts.WithLabelValues(change.Base())
	}
	tags := with.NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_tags_total",
		Help: "Hashtags that posts created (created), and that were deleted because no post used them for long (dropped).",
	}, []string{"change"})
	for _, change := range []string{tagCreated, tagDropped} {
		tags.WithLabelValues(change)
	}
	earlyEnds := with.NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_page_early_ends_total",
		Help: "Pages of a list that ended early, after many entries that they do not show.",
	}, []string{"list"})
	for _, list := range []string{timelineList, likedList, string(retwis.ReplyReference), string(retwis.QuoteReference)} {
		earlyEnds.WithLabelValues(list)
	}
	return &metrics{
		pages: with.NewHistogram(prometheus.HistogramOpts{
			Name:    "retwis_page_posts",
			Help:    "Posts per page of a timeline.",
			Buckets: []float64{0, 1, 5, 10, 20, 50, 100},
		}),
		refills: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_page_refills_total",
			Help: "Further reads for a page, because it had deleted posts or continued below the end of a list.",
		}),
		earlyEnds: earlyEnds,
		markers: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_timeline_markers_total",
			Help: "Moves of the markers up to which users have read their timelines.",
		}),
		likes:   likes,
		reposts: reposts,
		tags:    tags,
		likeCounts: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_like_counts_total",
			Help: "Numbers of likers of a post in a partition that workers stored, because likes had changed them.",
		}),
		rebuilds: with.NewCounter(prometheus.CounterOpts{
			Name: "retwis_timeline_rebuilds_total",
			Help: "Rebuilds of homes and lists that were missing or incomplete.",
		}),
	}
}

// collector reads metrics from the database on each scrape.
type collector struct {
	store *Store

	up, writable, age, length *prometheus.Desc
	connections, changedLikes *prometheus.Desc
	waits, exhausted          *prometheus.Desc

	cacheBytes, cacheReads, cacheResets *prometheus.Desc
}

// collectTime bounds the round trip of a scrape.
const collectTime = 2 * time.Second

func newCollector(s *Store) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &collector{
		store:    s,
		up:       desc("retwis_redis_up", "1 if the last scrape could read all outboxes, else 0."),
		writable: desc("retwis_partition_writable", "1 if a partition accepted a write within the last 5 seconds, else 0.", "partition"),
		age:      desc("retwis_outbox_oldest_seconds", "Age of the oldest entry of an outbox, 0 if it is empty: the lag of fan-out.", "partition"),
		length:   desc("retwis_outbox_entries", "Entries of an outbox that are not yet delivered or not yet trimmed.", "partition"),
		changedLikes: desc("retwis_changed_likes",
			"Posts whose likes have changed and whose number of likes may be out of date, counted once for each partition of users who like them."),
		connections: desc("retwis_redis_connections", "Open connections to Redis for non-blocking commands, by state.", "state"),
		waits:       desc("retwis_redis_pool_waits_total", "Commands that waited for a free connection to Redis."),
		exhausted:   desc("retwis_redis_pool_timeouts_total", "Commands that failed because no connection to Redis was free in time."),
		cacheBytes:  desc("retwis_post_cache_bytes", "Memory that the cache of posts takes."),
		cacheReads:  desc("retwis_post_cache_reads_total", "Posts of pages that the cache had (hit) or that were read from Redis (miss).", "result"),
		cacheResets: desc("retwis_post_cache_resets_total", "How often all posts were dropped from the cache, because changes of posts might have been missed."),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.up, c.writable, c.age, c.length, c.changedLikes, c.connections, c.waits, c.exhausted, c.cacheBytes, c.cacheReads, c.cacheResets} {
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
	if changed, err := c.store.Likes.ChangedLikes(ctx); err == nil {
		gauge(c.changedLikes, float64(changed))
	}
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

	cache := c.store.Posts.cache.Stats()
	gauge(c.cacheBytes, float64(cache.Bytes))
	to <- prometheus.MustNewConstMetric(c.cacheReads, prometheus.CounterValue, float64(cache.Hits), "hit")
	to <- prometheus.MustNewConstMetric(c.cacheReads, prometheus.CounterValue, float64(cache.Misses), "miss")
	to <- prometheus.MustNewConstMetric(c.cacheResets, prometheus.CounterValue, float64(cache.Resets))
}
