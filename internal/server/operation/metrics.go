package operation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/retwis"
)

// Bounds of the label with the operation's name. Clients choose names freely, and each
// label value costs memory here and in Prometheus.
const (
	maxNames      = 100 // besides those that are known from the start
	maxNameLength = 64  // bytes
	unnamed       = "(unnamed)"
	otherName     = "(other)" // like the one above, it is not a name in GraphQL
)

// outcome is the result of an operation, for metrics and traces.
type outcome int

const (
	succeeded     outcome = iota
	failed                // with an error that the client is shown
	unavailable           // with an error that passes by itself
	internalError         // with an error that the client is not shown
	outcomes              // how many there are
)

func (o outcome) String() string { return [...]string{"ok", "failed", "unavailable", "internal"}[o] }

func outcomeOf(response *graphql.Response) outcome {
	switch {
	case response == nil || len(response.Errors) == 0:
		return succeeded
	case HasCode(response.Errors, retwis.CodeInternal):
		return internalError
	case HasCode(response.Errors, retwis.CodeUnavailable):
		return unavailable
	default:
		return failed
	}
}

// outcomeFor is outcomeOf for the client of a context: an operation that was interrupted
// because its client left is no internal error.
func outcomeFor(ctx context.Context, response *graphql.Response) outcome {
	o := outcomeOf(response)
	if o == internalError && errors.Is(ctx.Err(), context.Canceled) {
		return failed
	}
	return o
}

// Metrics count operations by name and outcome.
type Metrics struct {
	counts  *prometheus.CounterVec
	took    *prometheus.HistogramVec
	trips   *prometheus.HistogramVec
	refused prometheus.Counter

	known sync.Map // operationKey to *operationSeries, which is nil before the first operation

	mu     sync.Mutex
	others int // names that were not known from the start
}

type operationKey struct {
	kind ast.Operation
	name string
}

// operationSeries are the metrics of one operation, looked up once.
type operationSeries struct {
	counts      [outcomes]prometheus.Counter
	took, trips prometheus.Observer
}

// NewMetrics returns metrics that always have labels of their own for the operations with
// these names. The other names share a bounded number of labels.
func NewMetrics(with prometheus.Registerer, names []string) *Metrics {
	factory := promauto.With(with)
	labels := []string{"type", "operation"}
	m := &Metrics{
		counts: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "retwis_graphql_operations_total",
			Help: "GraphQL operations executed, and subscriptions started, by name and outcome: ok, failed with an error for the client, unavailable, or internal.",
		}, append(labels, "outcome")),
		took: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_graphql_operation_seconds",
			Help:    "Time to execute a query or a mutation, or to start a subscription.",
			Buckets: TimeBuckets(),
		}, labels),
		trips: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_graphql_operation_round_trips",
			Help:    "Round trips to Redis per operation, without the one that reads the session; a pipeline is one.",
			Buckets: []float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 25},
		}, labels),
		refused: factory.NewCounter(prometheus.CounterOpts{
			Name: "retwis_graphql_refused_total",
			Help: "GraphQL requests refused before execution because they are malformed, invalid or beyond a limit.",
		}),
	}
	for _, name := range names {
		for _, kind := range []ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
			m.known.Store(operationKey{kind, name}, (*operationSeries)(nil))
		}
	}
	return m
}

// TimeBuckets returns the bounds of the histograms of operations and requests, in seconds.
func TimeBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
}

// seriesOf returns the metrics of an operation.
func (m *Metrics) seriesOf(op *ast.OperationDefinition) *operationSeries {
	key := operationKey{op.Operation, op.Name}
	if key.name == "" {
		key.name = unnamed
	}
	if series, _ := m.lookUp(key); series != nil {
		return series
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.lookUp(key)
	switch {
	case known || key.name == unnamed:
	case len(key.name) > maxNameLength || m.others >= maxNames:
		key.name = otherName
	default:
		m.others++
	}
	series, _ := m.lookUp(key)
	if series == nil {
		series = m.newSeries(key)
		m.known.Store(key, series)
	}
	return series
}

func (m *Metrics) lookUp(key operationKey) (series *operationSeries, known bool) {
	found, known := m.known.Load(key)
	series, _ = found.(*operationSeries)
	return series, known
}

func (m *Metrics) newSeries(key operationKey) *operationSeries {
	kind := string(key.kind)
	s := &operationSeries{took: m.took.WithLabelValues(kind, key.name), trips: m.trips.WithLabelValues(kind, key.name)}
	for o := range outcomes {
		s.counts[o] = m.counts.WithLabelValues(kind, key.name, o.String())
	}
	return s
}

func (s *operationSeries) observe(o outcome, took time.Duration, roundTrips int64) {
	s.counts[o].Inc()
	s.took.Observe(took.Seconds())
	s.trips.Observe(float64(roundTrips))
}
