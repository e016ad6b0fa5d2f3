package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"retwis/internal/bench/load"
	"retwis/internal/terminal"
)

// loadView shows the progress of a load test: on a terminal in place, otherwise line by line.
type loadView struct {
	w          *os.File
	onTerminal bool
	options    load.Options
	what       string // whose rate and latencies are shown

	mu    sync.Mutex
	rates []float64 // of the last seconds, drawn as bars
	drawn []string  // lines to overwrite
}

func newLoadView(w *os.File, o load.Options) *loadView {
	v := &loadView{w: w, onTerminal: term.IsTerminal(int(w.Fd())), options: o, what: "operations"}
	if o.Scenario == load.Live || o.Scenario == load.Fanout {
		v.what = "deliveries"
	}
	return v
}

// show is called every second.
func (v *loadView) show(i load.Interval, t load.Totals) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.WarmingUp {
		v.draw("warming up")
		return
	}
	if i.Length < 0.2 {
		return // too short for a rate
	}
	rate := float64(i.Operations) / i.Length
	if v.what == "deliveries" {
		rate = float64(i.Deliveries) / i.Length
	}
	problems := ""
	if t.Errors > 0 {
		problems = fmt.Sprintf(", %d errors", t.Errors)
	}
	if t.Limited > 0 {
		problems += fmt.Sprintf(", %d of them from rate limits", t.Limited)
	}
	line := fmt.Sprintf("%4.0f s of %.0f  %8.0f %s/s  p50 %7.2f ms  p99 %7.2f ms  max %7.2f ms%s",
		i.Seconds, v.options.Duration.Seconds(), rate, v.what, i.P50, i.P99, i.Max, problems)
	if !v.onTerminal {
		v.draw(line)
		return
	}
	const kept = 60
	v.rates = append(v.rates, rate)
	v.rates = v.rates[max(0, len(v.rates)-kept):]
	total := t.Operations
	if v.what == "deliveries" {
		total = t.Deliveries
	}
	left := max(v.options.Duration-time.Duration(i.Seconds*float64(time.Second)), 0)
	sum := fmt.Sprintf("%d %s in total  ", total, v.what)
	room := min(max(terminal.Columns(v.w)-len(sum), 0), len(v.rates)) // the latest seconds have precedence
	v.draw(
		fmt.Sprintf("%s on %s, %s left", v.options.Scenario, v.options.URL, left.Round(time.Second)),
		line,
		sum+bars(v.rates[len(v.rates)-room:]),
	)
}

// draw writes lines. On a terminal they overwrite the last ones, and each is cut to one row.
func (v *loadView) draw(lines ...string) {
	over := ""
	if v.onTerminal {
		width := cmp.Or(terminal.Columns(v.w), 80)
		if up := rows(v.drawn, width); up > 0 {
			over = fmt.Sprintf("\r\x1b[%dA\x1b[J", up) // the terminal may have echoed a key
		}
		for i := range lines {
			lines[i] = fit(lines[i], width)
		}
		v.drawn = lines
	}
	_, _ = fmt.Fprint(v.w, over+strings.Join(lines, "\n")+"\n") // a closed terminal displays nothing
}

// rows returns how many rows lines take on a terminal of a width. Lines wrap on a terminal that became
// narrower after they were drawn.
func rows(lines []string, width int) int {
	n := 0
	for _, line := range lines {
		n += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	return n
}

// fit cuts a line to the width of a row.
func fit(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:width-1]) + "…"
}

// end keeps the last lines on the terminal.
func (v *loadView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drawn = nil
}

// bars draws numbers as a row of bars.
func bars(numbers []float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	highest := 0.0
	for _, n := range numbers {
		highest = max(highest, n)
	}
	var b strings.Builder
	for _, n := range numbers {
		level := 0
		if highest > 0 {
			level = int(n / highest * float64(len(levels)-1))
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
