package main

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

// progress shows how far a long command has come: a bar on a terminal that has room for it,
// elsewhere a line now and then.
type progress struct {
	w        *os.File
	terminal bool
}

func newProgress(w *os.File) *progress {
	return &progress{w: w, terminal: columns(w) >= barNeeds}
}

// columns is the width of a terminal now, 0 for what is none.
func columns(w *os.File) int {
	width, _, err := term.GetSize(int(w.Fd()))
	if err != nil {
		return 0
	}
	return width
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
	barNeeds  = 72 // columns: in fewer it takes two rows, and each drawing of it two more
)

// phase is one part of the work, with a count of its own.
type phase struct {
	progress *progress
	name     string
	total    int
	started  time.Time
	count    atomic.Int64
	bar      *progressbar.ProgressBar // nil where there is no terminal

	stop chan struct{}
	wg   sync.WaitGroup
}

// begin starts a phase, and shows it until [phase.end]. A total of 0 is not known.
func (p *progress) begin(name string, total int) *phase {
	ph := &phase{progress: p, name: name, total: total, started: time.Now(), stop: make(chan struct{})}
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

// part is [progress.begin] in the form that other packages ask for.
func (p *progress) part(name string, total int) (add func(int), end func()) {
	ph := p.begin(name, total)
	return ph.add, ph.end
}

func (ph *phase) add(n int) { ph.count.Add(int64(n)) }

// end shows where the phase ended.
func (ph *phase) end() {
	close(ph.stop)
	ph.wg.Wait()
	ph.show()
	if ph.bar != nil {
		_ = ph.bar.Exit() // ends the line; a terminal that is gone shows nothing anyway
		_, _ = fmt.Fprintln(ph.progress.w)
	}
}

func (ph *phase) show() {
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
