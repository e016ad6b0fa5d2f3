package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Kind is the value of the field kind in a report as JSON.
const Kind = "figures"

// version is the version of the form of reports. Reports of other versions cannot be compared.
const version = 1

// Report holds the figures of one or more runs.
type Report struct {
	Kind      string    `json:"kind"`
	Version   int       `json:"version"`
	Program   string    `json:"program"`
	StartedAt time.Time `json:"startedAt"`
	Machine   Machine   `json:"machine"`
	Runs      int       `json:"runs"`
	Figures   []Summary `json:"figures"`
}

// Machine describes where the figures were measured.
type Machine struct {
	CPUs     int    `json:"cpus"`
	Platform string `json:"platform"`
	Go       string `json:"go"`
}

// Summary is a figure over all runs.
type Summary struct {
	Measurement string            `json:"measurement"`
	Name        string            `json:"name"`
	Unit        string            `json:"unit"`
	Values      []float64         `json:"values"` // by run
	Median      float64           `json:"median"`
	Goal        Goal              `json:"goal,omitzero"`
	Baselines   []BaselineSummary `json:"baselines,omitempty"`
}

// BaselineSummary is a baseline over all runs.
type BaselineSummary struct {
	Name        string    `json:"name"`
	Values      []float64 `json:"values"` // by run
	Median      float64   `json:"median"`
	Ratio       float64   `json:"ratio"` // median of the ratios of figure to baseline, each of one run
	Unavailable string    `json:"unavailable,omitempty"`
	Earlier     bool      `json:"earlier,omitempty"`
	Goal        Goal      `json:"goal,omitzero"`
}

// add enters the figure of one more run.
func (r *Report) add(measurement string, f Figure) {
	i := slices.IndexFunc(r.Figures, func(s Summary) bool { return s.Measurement == measurement && s.Name == f.Name })
	if i < 0 {
		s := Summary{Measurement: measurement, Name: f.Name, Unit: f.Unit, Goal: f.Goal}
		for _, b := range f.Beside {
			s.Baselines = append(s.Baselines, BaselineSummary{Name: b.Name, Earlier: b.Earlier, Unavailable: b.Unavailable, Goal: b.Goal})
		}
		r.Figures = append(r.Figures, s)
		i = len(r.Figures) - 1
	}
	s := &r.Figures[i]
	s.Values = append(s.Values, f.Value)
	s.Median = Median(s.Values)
	for k := range s.Baselines {
		b := &s.Baselines[k]
		if b.Unavailable != "" {
			continue
		}
		b.Values = append(b.Values, f.Beside[k].Value)
		b.Median = Median(b.Values)
		b.Ratio = Median(ratios(s.Values, b.Values))
	}
}

// ratios divides the values of one run by those of the same run, except by 0.
func ratios(values, by []float64) []float64 {
	var all []float64
	for i, n := range by {
		if n != 0 {
			all = append(all, values[i]/n)
		}
	}
	return all
}

// Print writes a table with a line for each figure and baseline.
func (r *Report) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) } // Flush returns the error
	value := "VALUE"
	if r.Runs > 1 {
		value = fmt.Sprintf("MEDIAN OF %d\tRANGE", r.Runs)
	}
	row("FIGURE", value, "BASELINE", "ITS VALUE", "RATIO", "GOAL")
	for _, s := range r.Figures {
		value := quantity(s.Median, s.Unit)
		blank := ""
		if r.Runs > 1 {
			value += "\t" + number(slices.Min(s.Values)) + "–" + number(slices.Max(s.Values))
			blank = "\t"
		}
		goal := s.Goal.describe(s.Median, s.Unit)
		if len(s.Baselines) == 0 {
			row(s.Name, value, "", "", "", goal)
		}
		for i, b := range s.Baselines {
			name, value, of := s.Name, value, goal
			if i > 0 {
				name, value, of = "", blank, ""
			}
			row(name, value, b.Name, b.value(s.Unit), b.ratio(), strings.Trim(of+"; "+b.Goal.describe(b.Ratio, ratioUnit), "; "))
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the figures: %w", err)
	}
	return nil
}

func (b BaselineSummary) value(unit string) string {
	switch {
	case b.Unavailable != "":
		return b.Unavailable
	case b.Earlier:
		return quantity(b.Median, unit) + ", measured earlier"
	default:
		return quantity(b.Median, unit)
	}
}

func (b BaselineSummary) ratio() string {
	if b.Ratio == 0 {
		return ""
	}
	return quantity(b.Ratio, ratioUnit)
}

// WriteJSON writes a report that [Parse] reads.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Parse reads a report from JSON.
func Parse(text []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read a report of figures: %w", err)
	}
	if r.Kind != Kind || r.Version != version {
		return nil, fmt.Errorf("a report of kind %q and version %d cannot be read: this program reads %q of version %d", r.Kind, r.Version, Kind, version)
	}
	return &r, nil
}
