package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"retwis/internal/check"
	"retwis/internal/terminal"
)

// checkCommand compares a database with its definition.
type checkCommand struct {
	Sample int     `default:"0" placeholder:"N" help:"Check this many users only, chosen at random; 0 checks all."`
	Seed   *uint64 `placeholder:"N" help:"The same number chooses the same users; left out, any number."`
	Repair bool    `help:"Mend what is found. The service may go on meanwhile."`
	JSON   bool    `name:"json" help:"Print the report as JSON."`

	databaseSettings
}

// Help is what check --help says besides the flags.
func (*checkCommand) Help() string {
	return "Compares homes, lists and mentions with the posts that belong there, both directions of follows and lists, " +
		"counts, and names, while the service works: what seems to be wrong is looked at again once everything " +
		"that was under way has been carried out. That takes a worker that runs. Give the same bounds as to the service. " +
		"The exit code is 0 when all is right, 1 when something is not, and 2 when that could not be told."
}

// Validate is called once all flags are read.
func (c *checkCommand) Validate() error {
	if c.Sample < 0 {
		return fmt.Errorf("--sample is %d: choose a number of users, or 0 for all", c.Sample)
	}
	return c.databaseSettings.check()
}

// Run checks the database and prints what it found. It fails when that is anything.
func (c *checkCommand) Run(ctx context.Context, console console) error {
	db, err := c.open(ctx, console)
	if err != nil && ctx.Err() != nil {
		return misusef("stopped before anything was checked")
	}
	if err != nil {
		return misuse{err}
	}
	defer db.close(ctx)
	seed := rand.Uint64N(1_000_000)
	if c.Seed != nil {
		seed = *c.Seed
	}
	progress := terminal.NewProgress(console.err)
	report, err := check.Run(ctx, db.store, check.Options{
		Sample:   c.Sample,
		Seed:     seed,
		Repair:   c.Repair,
		Progress: progress.Part,
	})
	if err != nil && ctx.Err() != nil {
		return misusef("stopped, with %d things found to be wrong so far", report.Findings())
	}
	if err != nil {
		return misuse{mendRedis(err)}
	}
	write := writeReport
	if c.JSON {
		write = writeReportJSON
	}
	if err := write(console.out, report); err != nil {
		return misuse{err}
	}
	if c.Sample > 0 && !c.JSON {
		_, _ = fmt.Fprintf(console.out, "The same users are checked again with --sample %d --seed %d.\n", c.Sample, seed)
	}
	return verdict(report, c.Repair)
}

// verdict is the error that a report amounts to.
func verdict(r check.Report, repair bool) error {
	n := r.Findings()
	switch {
	case n > 0 && repair:
		return fmt.Errorf("%d things were wrong, and %d of them were mended: check again", n, r.Repaired)
	case n > 0:
		return fmt.Errorf("%d things are wrong: --repair mends them", n)
	case r.Unsettled > 0:
		return misusef("of %d things it could not be told whether they are wrong, since what is under way is not "+
			"carried out: see that a worker runs", r.Unsettled)
	default:
		return nil
	}
}

func writeReport(w io.Writer, r check.Report) error {
	_, _ = fmt.Fprintf(w, "Checked %d users and %d timelines with %d entries in %s.\n",
		r.Users, r.Timelines, r.Entries, r.Took.Round(time.Millisecond))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, kind := range check.Kinds() {
		if n := r.Counts[kind]; kind.OfEntries() {
			_, _ = fmt.Fprintf(table, "%s\t%d\t%.4g per million entries\n", kind, n, r.PerMillion(kind))
		} else {
			_, _ = fmt.Fprintf(table, "%s\t%d\n", kind, n)
		}
	}
	err := table.Flush()
	if r.Unsettled > 0 {
		_, _ = fmt.Fprintf(w, "Not told from what is under way: %d.\n", r.Unsettled)
	}
	if len(r.Examples) > 0 {
		_, _ = fmt.Fprintln(w, "For example:")
	}
	for _, f := range r.Examples {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", f.Kind, f.Text)
	}
	return err
}

func writeReportJSON(w io.Writer, r check.Report) error {
	perMillion := map[check.Kind]float64{}
	for _, kind := range check.Kinds() {
		if kind.OfEntries() {
			perMillion[kind] = r.PerMillion(kind)
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		check.Report
		Findings   int                    `json:"findings"`
		PerMillion map[check.Kind]float64 `json:"perMillionEntries"`
		Seconds    float64                `json:"seconds"`
	}{r, r.Findings(), perMillion, r.Took.Seconds()})
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}
