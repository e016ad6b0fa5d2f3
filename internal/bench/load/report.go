package load

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Kind is the value of the field kind in a report as JSON.
const Kind = "load"

// reportVersion is the version of the form of reports. Reports of other versions cannot be compared.
const reportVersion = 2

// Report holds the results of a load test. Times are in milliseconds unless their names say otherwise.
type Report struct {
	Kind       string            `json:"kind"`
	Version    int               `json:"version"`
	Program    string            `json:"program"`
	StartedAt  time.Time         `json:"startedAt"`
	Seconds    float64           `json:"seconds"` // of the measurement
	Settings   Settings          `json:"settings"`
	Operations []Series          `json:"operations"`
	Deliveries *Series           `json:"deliveries,omitempty"` // from when a post was due to its arrival
	Reached    *Series           `json:"reached,omitempty"`    // until a post had reached all subscriptions
	Missing    string            `json:"missing,omitempty"`
	Limited    int               `json:"limited"`
	Errors     map[string]int    `json:"errors"`
	Examples   map[string]string `json:"examples"`
	Timeline   []Interval        `json:"timeline"`
}

// Settings are the options of the test.
type Settings struct {
	URL       string  `json:"url"`
	Scenario  string  `json:"scenario"`
	Loop      string  `json:"loop"` // open or closed
	Rate      float64 `json:"rate"`
	Clients   int     `json:"clients"`
	Accounts  int     `json:"accounts"`
	Followers int     `json:"followers"` // of each author
	Duration  float64 `json:"durationSeconds"`
	Warmup    float64 `json:"warmupSeconds"`
}

// Series are the latencies of one kind of operation.
type Series struct {
	Name        string       `json:"name"`
	Count       int          `json:"count"` // of successes
	Errors      int          `json:"errors"`
	PerSecond   float64      `json:"perSecond"`
	Mean        float64      `json:"mean"`
	P50         float64      `json:"p50"`
	P90         float64      `json:"p90"`
	P99         float64      `json:"p99"`
	P999        float64      `json:"p999"`
	Max         float64      `json:"max"`
	Percentiles [][2]float64 `json:"percentiles"` // per cent, latency
}

func settingsOf(o Options, followers int) Settings {
	loop := "closed"
	if o.Rate > 0 {
		loop = "open"
	}
	return Settings{
		URL: o.URL, Scenario: o.Scenario, Loop: loop, Rate: o.Rate, Clients: o.Clients, Accounts: o.Accounts,
		Followers: followers, Duration: o.Duration.Seconds(), Warmup: o.Warmup.Seconds(),
	}
}

// fill enters the recorded values into a report.
func (r *recorder) fill(report *Report, ended time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	report.Seconds = max(ended.Sub(r.start).Seconds(), 0)
	all := tally{latencies: newHistogram()}
	for _, name := range r.names() {
		t := r.operations[name]
		report.Operations = append(report.Operations, seriesOf(name, *t, report.Seconds))
		all.latencies.Merge(t.latencies)
		all.errors += t.errors
	}
	if len(report.Operations) > 1 {
		report.Operations = append([]Series{seriesOf("all", all, report.Seconds)}, report.Operations...)
	}
	if r.subscribes {
		deliveries := seriesOf("deliveries", tally{latencies: r.deliveries}, report.Seconds)
		reached := seriesOf("until the last", tally{latencies: r.reached}, report.Seconds)
		report.Deliveries, report.Reached = &deliveries, &reached
	}
	report.Limited, report.Errors, report.Examples, report.Timeline = r.limited, r.errors, r.examples, r.timeline
}

func seriesOf(name string, t tally, seconds float64) Series {
	h := t.latencies
	at := func(q float64) float64 { return milliseconds(h.ValueAtQuantile(q)) }
	s := Series{
		Name: name, Count: int(h.TotalCount()), Errors: t.errors,
		Mean: h.Mean() / 1000, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: milliseconds(h.Max()),
		Percentiles: percentiles(h),
	}
	if seconds > 0 {
		s.PerSecond = float64(s.Count) / seconds
	}
	return s
}

// percentiles returns more of them towards 100 %, as long as there are values to distinguish them.
func percentiles(h *hdrhistogram.Histogram) [][2]float64 {
	list := [][2]float64{}
	if h.TotalCount() == 0 {
		return list
	}
	for rest := 1.0; rest*float64(h.TotalCount()) >= 1 && len(list) < 200; rest /= 1.2 {
		q := 100 * (1 - rest)
		list = append(list, [2]float64{q, milliseconds(h.ValueAtQuantile(q))})
	}
	return list
}

// Succeeded reports whether any operation succeeded.
func (r *Report) Succeeded() bool {
	for _, s := range r.Operations {
		if s.Count > 0 {
			return true
		}
	}
	return false
}

// WriteJSON writes a report that [Parse] reads.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Parse reads a report from JSON.
func Parse(text []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read a report of a load test: %w", err)
	}
	if r.Kind != Kind || r.Version != reportVersion {
		return nil, fmt.Errorf("a report of kind %q and version %d cannot be read: this program reads %q of version %d", r.Kind, r.Version, Kind, reportVersion)
	}
	return &r, nil
}
