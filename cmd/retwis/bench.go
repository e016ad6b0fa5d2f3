package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"retwis/internal/loadtest"
)

// benchCommands measure.
type benchCommands struct {
	Run      benchCommand    `cmd:"" default:"withargs" help:"Drive a running server and report how long things take, or compare two reports."`
	Baseline baselineCommand `cmd:"" help:"Measure the engine beside what Redis and plain Go can do on this machine."`
	RawPages rawPagesCommand `cmd:"" hidden:"" help:"Serve a page from memory, for bench baseline."`
}

// benchCommand drives a server, or compares what came of two runs.
type benchCommand struct {
	URL      string        `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server to drive."`
	Scenario string        `default:"mixed" placeholder:"NAME" help:"What to do: read, post, mixed, live or fanout."`
	Rate     *float64      `placeholder:"N" help:"Operations a second, whatever the server does: an open loop. Left out, clients go on as soon as they are answered: a closed loop. For live it is posts a second, 5 where nothing is said; for fanout 1."`
	Clients  int           `default:"32" placeholder:"N" help:"Operations under way at once, at most; for live and fanout, open subscriptions."`
	Accounts int           `default:"20" placeholder:"N" help:"Accounts to use; they are made where they are not there, and follow each other."`
	Author   string        `default:"star" placeholder:"NAME" help:"For fanout: who posts."`
	Password string        `default:"password" placeholder:"WORD" help:"Of the author."`
	Duration time.Duration `default:"20s" placeholder:"TIME" help:"How long to measure."`
	Warmup   time.Duration `default:"2s" placeholder:"TIME" help:"How long to go on before that."`
	Timeout  time.Duration `default:"10s" placeholder:"TIME" help:"For one operation."`
	Report   string        `placeholder:"FILE" help:"Write the report as a page to look at."`
	JSON     string        `name:"json" placeholder:"FILE" help:"Write the report as JSON, to be compared."`

	Compare string `placeholder:"FILE" help:"Measure nothing: compare this report with another one, both JSON."`
	Other   string `arg:"" optional:"" name:"file" help:"With --compare: the other report."`
}

// Help is what bench --help says besides the flags.
func (*benchCommand) Help() string {
	var b strings.Builder
	b.WriteString("Scenarios:\n")
	for _, s := range loadtest.Scenarios() {
		fmt.Fprintf(&b, "  %-7s %s\n", s[0], s[1])
	}
	return b.String() + "\nThe server has to run with --rate-limits off. For fanout, retwis seed --star 10000 " +
		"makes an author with so many followers. Two reports are compared by: retwis bench --compare a.json b.json"
}

// Validate is called once all flags are read.
func (c *benchCommand) Validate() error {
	if c.Compare != "" || c.Other != "" {
		if c.Compare == "" || c.Other == "" {
			return errors.New("two reports are compared by: retwis bench --compare a.json b.json")
		}
		if c.Report != "" || c.JSON != "" || c.Rate != nil {
			return errors.New("to compare measures nothing: leave --rate, --report and --json out")
		}
		return nil
	}
	if c.Report != "" && c.Report == c.JSON {
		return fmt.Errorf("--report and --json are both %s: choose two files", c.Report)
	}
	return c.options().Check()
}

func (c *benchCommand) options() loadtest.Options {
	o := loadtest.Options{
		URL: c.URL, Scenario: c.Scenario, Clients: c.Clients, Accounts: c.Accounts, Author: c.Author, Password: c.Password,
		Warmup: c.Warmup, Duration: c.Duration, Timeout: c.Timeout,
	}
	switch {
	case c.Rate != nil:
		o.Rate = *c.Rate
	case c.Scenario == loadtest.Live:
		o.Rate = 5
	case c.Scenario == loadtest.Fanout:
		o.Rate = 1
	}
	return o
}

// Run measures and reports, or compares.
func (c *benchCommand) Run(ctx context.Context, console console) error {
	if c.Compare != "" {
		return compareReports(console.out, c.Compare, c.Other)
	}
	// What cannot be written should be known before it is measured.
	for _, path := range []string{c.Report, c.JSON} {
		made, err := tryFile(path)
		if err != nil {
			return misusef("the report cannot be written: %w: choose another file", err)
		}
		if made {
			defer func() { removeEmpty(path) }()
		}
	}
	o := c.options()
	view := newBenchView(console.err, o)
	o.Preparing, o.Progress = newProgress(console.err).part, view.show
	report, err := loadtest.Run(ctx, o)
	view.end()
	if errors.Is(err, loadtest.ErrSetup) && ctx.Err() == nil {
		return misuse{err}
	}
	if err != nil {
		return err
	}
	report.Program = describeBuild(thisBuild())
	if err := report.Print(console.out); err != nil {
		return err
	}
	if err := errors.Join(writeFile(c.Report, report.WriteHTML), writeFile(c.JSON, report.WriteJSON)); err != nil {
		return misusef("the report cannot be written: %w: choose another file, or make room", err)
	}
	if !report.Succeeded() {
		return errors.New("no operation succeeded")
	}
	return nil
}

func compareReports(w io.Writer, first, second string) error {
	a, err := loadtest.ReadReport(first)
	if err != nil {
		return misuse{err}
	}
	b, err := loadtest.ReadReport(second)
	if err != nil {
		return misuse{err}
	}
	if err := loadtest.Compare(w, a, b); err != nil {
		return misuse{err}
	}
	return nil
}

// tryFile opens a file for writing, and leaves what is in it. It reports whether it had to
// make the file.
func tryFile(path string) (made bool, err error) {
	if path == "" {
		return false, nil
	}
	_, err = os.Stat(path)
	made = errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return false, err
	}
	return made, file.Close()
}

// removeEmpty removes a file that nothing came to be written to.
func removeEmpty(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		_ = os.Remove(path) // it harms nobody
	}
}

// writeFile writes a file, where one is named.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	return write(file)
}
