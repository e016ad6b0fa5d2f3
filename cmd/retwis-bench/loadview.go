package main

import (
	"fmt"
	"io"

	"retwis/internal/bench/load"
)

// loadView prints the progress of a load test, a line per second.
type loadView struct {
	w       io.Writer
	options load.Options
}

// show is called once a second.
func (v loadView) show(i load.Interval, t load.Totals) {
	if t.WarmingUp {
		_, _ = fmt.Fprintln(v.w, "warming up")
		return
	}
	if i.Length < 0.2 {
		return // too short for a rate
	}
	what, n := "operations", i.Operations
	if v.options.Scenario == load.Live || v.options.Scenario == load.Fanout {
		what, n = "deliveries", i.Deliveries
	}
	problems := ""
	if t.Errors > 0 {
		problems = fmt.Sprintf(", %d errors", t.Errors)
	}
	if t.Limited > 0 {
		problems += fmt.Sprintf(", %d of them from rate limits", t.Limited)
	}
	_, _ = fmt.Fprintf(v.w, "%4.0f s of %.0f  %8.0f %s/s  p50 %7.2f ms  p99 %7.2f ms  max %7.2f ms%s\n",
		i.Seconds, v.options.Duration.Seconds(), float64(n)/i.Length, what, i.P50, i.P99, i.Max, problems)
}
