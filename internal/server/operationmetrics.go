package server

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

// Bounds of the names by which operations are told apart. Clients choose names as they
// like, and each one that is told apart costs memory here and in Prometheus.
const (
	maxOperationNames = 100 // beyond those that are known from the start
	maxOperationName  = 64  // bytes
	unnamedOperation  = "(unnamed)"
	otherOperation    = "(other)" // neither this nor the one above is a name in GraphQL
)

// outcome is what became of an operation.
type outcome int

const (
	succeeded outcome = iota
	failed            // with an error that the client can read, and perhaps mend
	broken            // with an internal error
	outcomes          // how many there are
)

func (o outcome) String() string { return [...]string{"ok", "failed", "internal"}[o] }

func outcomeOf(response *graphql.Response) outcome {
	switch {
	case response == nil || len(response.Errors) == 0:
		return succeeded
	case hasCode(response.Errors, retwis.CodeInternal):
		return broken
	default:
		return failed
	}
}

// outcomeFor is outcomeOf for the client of a context: what broke off since it went away is
// no failure of ours.
func outcomeFor(ctx context.Context, response *graphql.Response) outcome {
	o := outcomeOf(response)
	if o == broken && errors.Is(ctx.Err(), context.Canceled) {
		return failed
	}
	return o
}

func outcomeOfError(err error) outcome {
	if err == nil {
		return succeeded
	}
	if _, shown := errors.AsType[*retwis.Error](err); shown || errors.Is(err, context.Canceled) {
		return failed
	}
	return broken
}

// operationMetrics count operations by name and outcome.
type operationMetrics struct {
	counts  *prometheus.CounterVec
	took    *prometheus.HistogramVec
	trips   *prometheus.HistogramVec
	refused prometheus.Counter

	known sync.Map // operationKey to *operationSeries, nil of those that were not seen yet

	mu     sync.Mutex
	others int // names that were not known from the start
}

type operationKey struct {
	kind ast.Operation
	name string
}

// operationSeries are the metrics of one operation, found once.
type operationSeries struct {
	counts      [outcomes]prometheus.Counter
	took, trips prometheus.Observer
}

// newOperationMetrics tells operations of these names apart, whatever names others use
// before them.
func newOperationMetrics(with prometheus.Registerer, names []string) *operationMetrics {
	factory := promauto.With(with)
	labels := []string{"type", "operation"}
	m := &operationMetrics{
		counts: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "retwis_graphql_operations_total",
			Help: "GraphQL operations that were executed, of subscriptions their begin, by name and outcome: ok, failed by what the client can mend, or internal.",
		}, append(labels, "outcome")),
		took: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_graphql_operation_seconds",
			Help:    "Time to execute a query or a mutation, or to begin a subscription.",
			Buckets: operationTimes(),
		}, labels),
		trips: factory.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "retwis_graphql_operation_round_trips",
			Help:    "Exchanges with Redis that an operation made, that of the session left out; a pipeline is one.",
			Buckets: []float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 25},
		}, labels),
		refused: factory.NewCounter(prometheus.CounterOpts{
			Name: "retwis_graphql_refused_total",
			Help: "GraphQL requests that were not executed: they are malformed, invalid, or beyond a limit.",
		}),
	}
	for _, name := range names {
		for _, kind := range []ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
			m.known.Store(operationKey{kind, name}, (*operationSeries)(nil))
		}
	}
	return m
}

// of returns the metrics of an operation.
func (m *operationMetrics) of(op *ast.OperationDefinition) *operationSeries {
	key := operationKey{op.Operation, op.Name}
	if key.name == "" {
		key.name = unnamedOperation
	}
	if series, _ := m.lookUp(key); series != nil {
		return series
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.lookUp(key)
	switch {
	case known || key.name == unnamedOperation:
	case len(key.name) > maxOperationName || m.others >= maxOperationNames:
		key.name = otherOperation
	default:
		m.others++
	}
	series, _ := m.lookUp(key)
	if series == nil {
		series = m.series(key)
		m.known.Store(key, series)
	}
	return series
}

func (m *operationMetrics) lookUp(key operationKey) (series *operationSeries, known bool) {
	found, known := m.known.Load(key)
	series, _ = found.(*operationSeries)
	return series, known
}

func (m *operationMetrics) series(key operationKey) *operationSeries {
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
