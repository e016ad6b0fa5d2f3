// Package terminal shows on a terminal, or in a log file in its place, how far a command has come.
package terminal

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how far a long command has come: as a bar on a terminal that is wide enough,
// otherwise as a line every few seconds.
type Progress struct {
	w        *os.File
	terminal bool
}

// NewProgress returns a progress display that writes to w.
func NewProgress(w *os.File) *Progress {
	return &Progress{w: w, terminal: columns(w) >= barColumns}
}

// columns returns the current width of a terminal, or 0 if w is not a terminal.
func columns(w *os.File) int {
	width, _, err := term.GetSize(int(w.Fd()))
	if err != nil {
		return 0
	}
	return width
}

const (
	barEvery   = 100 * time.Millisecond
	lineEvery  = 5 * time.Second
	barColumns = 72 // on a narrower terminal the bar wraps, and each redraw adds two rows
)

// Phase is one part of the work, with its own counter.
type Phase struct {
	progress *Progress
	name     string
	total    int
	started  time.Time
	count    atomic.Int64
	bar      *progressbar.ProgressBar // nil without a terminal

	stop chan struct{}
	wg   sync.WaitGroup
}

// Begin starts a phase and displays it until [Phase.End]. A total of 0 means that it is unknown.
func (p *Progress) Begin(name string, total int) *Phase {
	ph := &Phase{progress: p, name: name, total: total, started: time.Now(), stop: make(chan struct{})}
	every := lineEvery
	if p.terminal {
		every = barEvery
		ph.bar = progressbar.NewOptions(cmp.Or(total, -1),
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(fmt.Sprintf("%-10s", name)),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetRenderBlankState(true),
		)
	}
	ph.wg.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ph.stop:
				return
			case <-ticker.C:
				ph.show()
			}
		}
	})
	return ph
}

// Part is [Progress.Begin] for packages that take a callback.
func (p *Progress) Part(name string, total int) (add func(int), end func()) {
	ph := p.Begin(name, total)
	return ph.Add, ph.End
}

// Add counts n more units as done.
func (ph *Phase) Add(n int) { ph.count.Add(int64(n)) }

// End displays the final count and ends the display.
func (ph *Phase) End() {
	close(ph.stop)
	ph.wg.Wait()
	ph.show()
	if ph.bar != nil {
		_ = ph.bar.Exit() // ends the line; a closed terminal displays nothing
		_, _ = fmt.Fprintln(ph.progress.w)
	}
}

func (ph *Phase) show() {
	n := ph.count.Load()
	if ph.bar != nil {
		n = max(n, 0)
		if ph.total > 0 {
			n = min(n, int64(ph.total))
		}
		_ = ph.bar.Set64(n)
		return
	}
	elapsed := time.Since(ph.started)
	of := ""
	if ph.total > 0 {
		of = fmt.Sprintf(" of %d", ph.total)
	}
	_, _ = fmt.Fprintf(ph.progress.w, "%s: %d%s in %s (%.0f/s)\n",
		ph.name, n, of, elapsed.Round(time.Millisecond), float64(n)/elapsed.Seconds())
}
