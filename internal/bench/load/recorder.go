package load

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in microseconds, from 1 to a minute, with three significant digits.
const (
	longest = time.Minute
	digits  = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), digits)
}

func record(h *hdrhistogram.Histogram, latency time.Duration) {
	// The only error is that of a value out of bounds.
	_ = h.RecordValue(min(max(latency.Microseconds(), 1), longest.Microseconds()))
}

// Interval is what happened in about a second.
type Interval struct {
	Seconds    float64 `json:"seconds"` // from the start of the measurement to the end of the interval
	Length     float64 `json:"length"`  // of the interval, in seconds
	Operations int     `json:"operations"`
	Errors     int     `json:"errors"`
	Deliveries int     `json:"deliveries"`
	P50        float64 `json:"p50"` // in milliseconds; of deliveries in a scenario with subscriptions
	P99        float64 `json:"p99"`
	Max        float64 `json:"max"`
}

// Totals are counts since the start of the measurement.
type Totals struct {
	Errors, Limited int
	WarmingUp       bool
}

// recorder collects the latencies and errors of a test.
type recorder struct {
	subscribes bool

	mu         sync.Mutex
	start      time.Time // of the measurement
	operations map[string]*tally
	deliveries *hdrhistogram.Histogram
	reached    *hdrhistogram.Histogram // of posts that reached every subscription
	errors     map[string]int
	examples   map[string]string
	limited    int
	timeline   []Interval

	current *hdrhistogram.Histogram // of the current interval
	counts  Interval
	since   time.Time // start of the interval
}

type tally struct {
	latencies *hdrhistogram.Histogram
	errors    int
}

func newRecorder(start time.Time, subscribes bool) *recorder {
	return &recorder{
		subscribes: subscribes,
		start:      start,
		operations: map[string]*tally{},
		deliveries: newHistogram(),
		reached:    newHistogram(),
		errors:     map[string]int{},
		examples:   map[string]string{},
		current:    newHistogram(),
		since:      start,
	}
}

// operation records an operation that was due at an instant and ended now.
func (r *recorder) operation(name string, due time.Time, err error) {
	latency := time.Since(due)
	r.mu.Lock()
	defer r.mu.Unlock()
	if due.Before(r.start) {
		return
	}
	t := r.operations[name]
	if t == nil {
		t = &tally{latencies: newHistogram()}
		r.operations[name] = t
	}
	r.counts.Operations++
	if err != nil {
		t.errors++
		r.counts.Errors++
		if errors.Is(err, errLimited) {
			r.limited++
		}
		kind := kindOf(err)
		if r.errors[kind]++; r.errors[kind] == 1 {
			r.examples[kind] = err.Error()
		}
		return
	}
	record(t.latencies, latency)
	if !r.subscribes {
		record(r.current, latency)
	}
}

// delivery records a post that was due at an instant and reached a subscription now.
func (r *recorder) delivery(due time.Time, last bool) {
	latency := time.Since(due)
	r.mu.Lock()
	defer r.mu.Unlock()
	if due.Before(r.start) {
		return
	}
	r.counts.Deliveries++
	record(r.deliveries, latency)
	record(r.current, latency)
	if last {
		record(r.reached, latency)
	}
}

// tick ends an interval.
func (r *recorder) tick(now time.Time) (Interval, Totals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.start) {
		return Interval{}, Totals{WarmingUp: true}
	}
	i := r.counts
	i.Seconds, i.Length = now.Sub(r.start).Seconds(), now.Sub(r.since).Seconds()
	i.P50, i.P99, i.Max = milliseconds(r.current.ValueAtQuantile(50)), milliseconds(r.current.ValueAtQuantile(99)), milliseconds(r.current.Max())
	r.timeline = append(r.timeline, i)
	r.counts, r.since = Interval{}, now
	r.current.Reset()
	totals := Totals{Limited: r.limited}
	for _, t := range r.operations {
		totals.Errors += t.errors
	}
	return i, totals
}

// names returns the names of the operations in a fixed order.
func (r *recorder) names() []string { return slices.Sorted(maps.Keys(r.operations)) }

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }
