package server

import (
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are what a server tells about itself.
type metrics struct {
	operations *operationMetrics
	requests   *requestMetrics
}

func newMetrics(with prometheus.Registerer, names []string) *metrics {
	return &metrics{
		operations: newOperationMetrics(with, names),
		requests:   newRequestMetrics(with),
	}
}

// register has what the server knows anyway read whenever somebody wants to know it.
func (s *Server) register(with prometheus.Registerer) {
	gauge := func(name, help string, value func() float64) {
		promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	counter := func(name, help string, n *atomic.Int64) {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(n.Load()) })
	}
	gauge("retwis_clients", "Websockets and streams of events that are open.",
		func() float64 { return float64(s.Stats().Clients) })
	gauge("retwis_client_queue_bytes", "Bytes that wait for the readers of websockets and streams of events, of all together.",
		func() float64 { return float64(s.sockets.queuedBytes()) })
	gauge("retwis_render_classes", "Sets of subscriptions that are sent the same bytes, with members now.",
		func() float64 { return float64(s.Stats().Classes) })
	counter("retwis_rendered_events_total", "Executions of subscriptions for an event, one for all subscribers that are sent the same.",
		&s.sockets.classes.counts.executions)
	counter("retwis_sent_events_total", "Events sent to subscribers.", &s.sockets.classes.counts.deliveries)
	counter("retwis_client_cut_offs_total", "Websockets and streams of events that were cut off, since too many bytes waited for their reader.",
		&s.sockets.wire.cutOffs)
	gauge("retwis_draining", "Whether the process stops, and sends its clients away: 1 or 0.", func() float64 {
		if s.draining.Load() {
			return 1
		}
		return 0
	})
}

// requestMetrics count HTTP requests.
type requestMetrics struct {
	took   map[string]prometheus.Observer  // by route
	counts map[string][]prometheus.Counter // by route, then the first digit of the status
}

// routes are the paths that are told apart; every other one is of the web app.
func routes() []string { return []string{"/graphql", "/healthz", "/readyz"} }

const otherRoute = "other"

func newRequestMetrics(with prometheus.Registerer) *requestMetrics {
	took := promauto.With(with).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "retwis_http_request_seconds",
		Help:    "Time to answer an HTTP request; websockets and streams of events are left out.",
		Buckets: operationTimes(),
	}, []string{"route"})
	counts := promauto.With(with).NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_http_requests_total",
		Help: "HTTP requests, upgrades to a websocket included, by the class of the answer's status.",
	}, []string{"route", "status"})
	m := &requestMetrics{map[string]prometheus.Observer{}, map[string][]prometheus.Counter{}}
	for _, route := range append(routes(), otherRoute) {
		m.took[route] = took.WithLabelValues(route)
		for _, status := range []string{"1xx", "2xx", "3xx", "4xx", "5xx"} {
			m.counts[route] = append(m.counts[route], counts.WithLabelValues(route, status))
		}
	}
	return m
}

func (m *requestMetrics) observe(path string, status int, stream bool, took time.Duration) {
	route := otherRoute
	if slices.Contains(routes(), path) {
		route = path
	}
	if status == 0 {
		status = http.StatusOK // what is sent where a handler says nothing
	}
	m.counts[route][min(max(status/100, 1), 5)-1].Inc()
	if !stream {
		m.took[route].Observe(took.Seconds())
	}
}

// operationTimes are the bounds of times of operations and requests, in seconds.
func operationTimes() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
}

// queuedBytes returns how much waits for all clients together.
func (r *sockets) queuedBytes() int {
	r.mu.Lock()
	all := make([]client, 0, len(r.open))
	for c := range r.open {
		all = append(all, c)
	}
	r.mu.Unlock()
	sum := 0
	for _, c := range all {
		sum += c.queuedBytes()
	}
	return sum
}
