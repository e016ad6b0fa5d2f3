// Package measure runs measurements one after another and reports their figures, each beside its
// baselines from the same run.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Measurement produces one or more figures.
type Measurement struct {
	Name string
	Help string // what it measures, in a few words
	Do   func(context.Context, *Run) error
}

// Options say how to run the measurements.
type Options struct {
	Runs    int       // how often to repeat all measurements, at least 1
	Small   bool      // use sizes at which everything is exercised and the figures mean nothing
	Service string    // path of the service's binary
	Log     io.Writer // receives each figure as soon as it is known
}

// Run is one pass over the measurements. They add their figures to it.
type Run struct {
	service string
	small   bool
	log     io.Writer
	figures []Figure
}

// Service returns the path of the service's binary.
func (r *Run) Service() string { return r.service }

// Size returns full, or small if the figures do not matter.
func (r *Run) Size(full, small int) int {
	if r.small {
		return small
	}
	return full
}

// Duration is [Run.Size] for durations.
func (r *Run) Duration(full, small time.Duration) time.Duration {
	if r.small {
		return small
	}
	return full
}

// Add records a figure. Its name must be the same in each run, and unique within its measurement.
func (r *Run) Add(f Figure) {
	_, _ = fmt.Fprintf(r.log, "  %s: %s\n", f.Name, quantity(f.Value, f.Unit)) // progress only
	for _, b := range f.Beside {
		_, _ = fmt.Fprintf(r.log, "    %s: %s\n", b.Name, quantity(b.Value, f.Unit))
	}
	r.figures = append(r.figures, f)
}

// Do carries out all measurements, as often as the options say, and reports the medians. One run
// completes before the next one begins, so that a disturbance of the machine affects single
// values and not all values of one figure.
func Do(ctx context.Context, measurements []Measurement, o Options) (*Report, error) {
	if len(measurements) == 0 {
		return nil, errors.New("no measurement selected")
	}
	report := &Report{
		Kind: Kind, Version: version, StartedAt: time.Now().UTC(), Runs: o.Runs,
		Machine: Machine{CPUs: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()},
	}
	for n := range o.Runs {
		for _, m := range measurements {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			_, _ = fmt.Fprintf(o.Log, "run %d of %d, measuring %s\n", n+1, o.Runs, m.Name)
			run := &Run{service: o.Service, small: o.Small, log: o.Log}
			if err := m.Do(ctx, run); err != nil {
				return nil, fmt.Errorf("measure %s: %w", m.Name, err)
			}
			for _, f := range run.figures {
				report.add(m.Name, f)
			}
		}
	}
	return report, nil
}
