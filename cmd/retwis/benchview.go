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

	"retwis/internal/loadtest"
)

// benchView shows what a measurement does: on a terminal in place, elsewhere line by line.
type benchView struct {
	w        *os.File
	terminal bool
	options  loadtest.Options
	what     string // the latencies are of

	mu    sync.Mutex
	rates []float64 // of the last seconds, drawn as a row of bars
	drawn []string  // lines to draw over
}

func newBenchView(w *os.File, o loadtest.Options) *benchView {
	v := &benchView{w: w, terminal: term.IsTerminal(int(w.Fd())), options: o, what: "operations"}
	if o.Scenario == loadtest.Live || o.Scenario == loadtest.Fanout {
		v.what = "deliveries"
	}
	return v
}

// show is called every second.
func (v *benchView) show(i loadtest.Interval, t loadtest.Totals) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.Warming {
		v.draw("warming up …")
		return
	}
	if i.Length < 0.2 {
		return // the rest of a second says nothing
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
		problems += fmt.Sprintf(", %d of them since the server limits clients", t.Limited)
	}
	line := fmt.Sprintf("%4.0f s of %.0f  %8.0f %s/s  p50 %7.2f ms  p99 %7.2f ms  longest %7.2f ms%s",
		i.Seconds, v.options.Duration.Seconds(), rate, v.what, i.P50, i.P99, i.Max, problems)
	if !v.terminal {
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
	sum := fmt.Sprintf("%d %s in all  ", total, v.what)
	room := min(max(columns(v.w)-len(sum), 0), len(v.rates)) // the last seconds are those to be seen
	v.draw(
		fmt.Sprintf("%s on %s, %s left", v.options.Scenario, v.options.URL, left.Round(time.Second)),
		line,
		sum+bars(v.rates[len(v.rates)-room:]),
	)
}

// draw writes lines, on a terminal over those before. There each gets one row, however
// narrow it is.
func (v *benchView) draw(lines ...string) {
	over := ""
	if v.terminal {
		width := cmp.Or(columns(v.w), 80)
		if up := rows(v.drawn, width); up > 0 {
			over = fmt.Sprintf("\r\x1b[%dA\x1b[J", up) // the terminal may have shown a key meanwhile
		}
		for i := range lines {
			lines[i] = fit(lines[i], width)
		}
		v.drawn = lines
	}
	_, _ = fmt.Fprint(v.w, over+strings.Join(lines, "\n")+"\n") // a terminal that is gone shows nothing anyway
}

// rows counts how many rows lines take in a terminal of a width: in one that was made
// narrower since they were drawn, what is too long has moved to further rows.
func rows(lines []string, width int) int {
	n := 0
	for _, line := range lines {
		n += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	return n
}

// fit cuts off what a row has no room for.
func fit(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:width-1]) + "…"
}

// end leaves what is shown as it is.
func (v *benchView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drawn = nil
}

// bars draws numbers as a row of bars of different heights.
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
