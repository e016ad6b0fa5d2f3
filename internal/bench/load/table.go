package load

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
)

// Compare prints two reports of one scenario beside each other, with the ratios of the second to the
// first.
func Compare(w io.Writer, a, b *Report) error {
	if a.Settings.Scenario != b.Settings.Scenario {
		return fmt.Errorf("the reports are of different scenarios, %s and %s", a.Settings.Scenario, b.Settings.Scenario)
	}
	sa, sb := a.Settings, b.Settings
	sa.URL, sb.URL = "", ""
	if sa != sb {
		line := func(s Settings) string {
			return fmt.Sprintf("%s, %s s after a warm-up of %s s", describe(s), number(s.Duration), number(s.Warmup))
		}
		_, _ = fmt.Fprintf(w, "The settings differ: %s\n               and: %s\n", line(a.Settings), line(b.Settings))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tfirst\tsecond\tsecond / first\t")
	for _, x := range a.series() {
		for _, y := range b.series() {
			if x.Name != y.Name {
				continue
			}
			row := func(what, unit string, a, b float64) {
				_, _ = fmt.Fprintf(table, "%s, %s\t%s%s\t%s%s\t%s\t\n", x.Name, what, number(a), unit, number(b), unit, ratio(a, b))
			}
			row("per second", "", x.PerSecond, y.PerSecond)
			row("mean", " ms", x.Mean, y.Mean)
			row("p50", " ms", x.P50, y.P50)
			row("p90", " ms", x.P90, y.P90)
			row("p99", " ms", x.P99, y.P99)
			row("p99.9", " ms", x.P999, y.P999)
			row("max", " ms", x.Max, y.Max)
			row("errors", "", float64(x.Errors), float64(y.Errors))
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return nil
}

// series returns all series of a report.
func (r *Report) series() []Series {
	all := r.Operations
	if r.Deliveries != nil {
		all = append(slices.Clip(all), *r.Deliveries, *r.Reached)
	}
	return all
}

// Print writes a report as a table.
func (r *Report) Print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%s, for %.1f s\n", describe(r.Settings), r.Seconds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tcount\tper second\tmean\tp50\tp90\tp99\tp99.9\tmax\terrors\t")
	for _, s := range r.series() {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s ms\t%d\t\n", s.Name, s.Count, number(s.PerSecond),
			number(s.Mean), number(s.P50), number(s.P90), number(s.P99), number(s.P999), number(s.Max), s.Errors)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	for _, line := range r.Remarks() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("print the report: %w", err)
		}
	}
	return nil
}

// Remarks returns sentences that qualify the figures.
func (r *Report) Remarks() []string {
	var lines []string
	if r.Limited > 0 {
		lines = append(lines, fmt.Sprintf("The server limited %d operations, so the figures show its limits: %s.", r.Limited, HowToLift))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		if kind != errLimited.Error() {
			lines = append(lines, fmt.Sprintf("%d × %s, for example: %s", r.Errors[kind], kind, r.Examples[kind]))
		}
	}
	if r.Missing != "" {
		lines = append(lines, "Of the posts, "+r.Missing+".")
	}
	if r.Settings.Loop == "closed" {
		lines = append(lines, "In a closed loop a slow server receives fewer requests, so the latencies do not include the time that requests would have waited. Set --rate to measure that.")
	}
	return lines
}

func describe(s Settings) string {
	if s.Loop == "closed" {
		return fmt.Sprintf("%s, closed loop of %d clients, %d accounts", s.Scenario, s.Clients, s.Accounts)
	}
	if s.Scenario == Live || s.Scenario == Fanout {
		return fmt.Sprintf("%s, %s posts per second to %d followers, %d subscriptions", s.Scenario, number(s.Rate), s.Followers, s.Clients)
	}
	return fmt.Sprintf("%s, open loop of %s per second, at most %d concurrent, %d accounts", s.Scenario, number(s.Rate), s.Clients, s.Accounts)
}

// number prints three significant digits of a small number, and a large one without a fraction.
func number(n float64) string {
	switch {
	case n == math.Trunc(n) || n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	default:
		return fmt.Sprintf("%.2f", n)
	}
}

func ratio(a, b float64) string {
	if a == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ×", b/a)
}
