package server

import (
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"retwis/internal/server/operation"
)

// Stats are statistics of long-lived connections and their subscriptions: the current numbers of clients and render
// groups, and counts since the start.
type Stats struct {
	Clients      int   // open websockets and event streams
	RenderGroups int   // with members
	Executions   int64 // of operations for events
	Deliveries   int64 // of events to subscribers
}

// Stats returns the statistics of the server.
func (s *Server) Stats() Stats {
	return Stats{
		Clients:      s.clients.Len(),
		RenderGroups: s.groups.Len(),
		Executions:   s.groups.Executions(),
		Deliveries:   s.groups.Deliveries(),
	}
}

// register registers the metrics that are read on demand.
func (s *Server) register(with prometheus.Registerer) {
	gauge := func(name, help string, value func() float64) {
		promauto.With(with).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	counter := func(name, help string, value func() int64) {
		promauto.With(with).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value()) })
	}
	gauge("retwis_clients", "Open websockets and event streams.",
		func() float64 { return float64(s.clients.Len()) })
	gauge("retwis_http_connections", "Open HTTP connections, without websockets.",
		func() float64 { return float64(s.networks.open.Load()) })
	counter("retwis_http_connections_refused_total", "Connections, and requests behind trusted proxies, refused because their network had too many.",
		s.networks.refused.Load)
	counter("retwis_http_floods_total", "Times that the attempts of a network to connect were ignored for a second.", s.floods.total.Load)
	gauge("retwis_client_queue_bytes", "Bytes that wait for the readers of all websockets and event streams.",
		func() float64 { return float64(s.clients.QueuedBytes()) })
	gauge("retwis_render_groups", "Render groups with members. A render group is a set of subscriptions that are sent the same bytes.",
		func() float64 { return float64(s.groups.Len()) })
	counter("retwis_rendered_events_total", "Executions of a subscription for an event, one for a whole render group.",
		s.groups.Executions)
	counter("retwis_sent_events_total", "Events sent to subscribers.", s.groups.Deliveries)
	counter("retwis_client_slow_consumers_total", "Websockets and event streams disconnected because too many bytes waited for their reader.",
		s.slowConsumers.Load)
	gauge("retwis_draining", "Whether the process is stopping and disconnects its clients: 1 or 0.", func() float64 {
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

// routes are the paths with labels of their own. All others belong to the web app.
func routes() []string { return []string{"/graphql", "/healthz", "/readyz"} }

const otherRoute = "other"

func newRequestMetrics(with prometheus.Registerer) *requestMetrics {
	took := promauto.With(with).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "retwis_http_request_seconds",
		Help:    "Time to answer an HTTP request, without websockets and event streams.",
		Buckets: operation.TimeBuckets(),
	}, []string{"route"})
	counts := promauto.With(with).NewCounterVec(prometheus.CounterOpts{
		Name: "retwis_http_requests_total",
		Help: "HTTP requests by the class of the response's status. Upgrades to a websocket are included.",
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
		status = http.StatusOK // net/http sends it for a handler that writes nothing
	}
	m.counts[route][min(max(status/100, 1), 5)-1].Inc()
	if !stream {
		m.took[route].Observe(took.Seconds())
	}
}
