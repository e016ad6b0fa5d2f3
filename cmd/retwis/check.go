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
	"retwis/internal/cli"
	"retwis/internal/store/inspect"
	"retwis/internal/terminal"
)

// checkCommand checks the consistency of a database.
type checkCommand struct {
	Sample int     `default:"0" placeholder:"N" help:"Check only this many users, chosen at random; 0 checks all."`
	Seed   *uint64 `placeholder:"N" help:"Seed of the random choice: the same seed chooses the same users. By default it is random."`
	Repair bool    `help:"Repair the problems found. The service may run meanwhile."`
	JSON   bool    `name:"json" help:"Print the report as JSON."`

	databaseSettings
}

// Help is the text after the flags.
func (*checkCommand) Help() string {
	return "Compares home timelines, lists, mentions and hashtags with the posts that they should contain, both directions of follows, list " +
		"memberships and likes, the replies, quotes and reposts of posts, counters, and usernames. The service may run meanwhile: the command checks each apparent problem again after the " +
		"pending outbox entries are delivered, so a worker must be running. Set the same limits as for the service. " +
		"Exit codes: 0 without problems, 1 with problems, 2 if the check could not be completed."
}

// Validate checks the flags.
func (c *checkCommand) Validate() error {
	if c.Sample < 0 {
		return fmt.Errorf("--sample is %d: choose a number of users, or 0 for all", c.Sample)
	}
	return c.databaseSettings.check()
}

// Run checks the database and prints the problems. It returns an error if there are any.
func (c *checkCommand) Run(ctx context.Context, console cli.Console) error {
	db, err := c.open(ctx, console)
	if err != nil && ctx.Err() != nil {
		return cli.Misusef("stopped before the check began")
	}
	if err != nil {
		return cli.Misuse(err)
	}
	defer db.close(ctx)
	seed := rand.Uint64N(1_000_000)
	if c.Seed != nil {
		seed = *c.Seed
	}
	progress := terminal.NewProgress(console.Err)
	report, err := check.Run(ctx, inspect.New(db.store), check.Options{
		Sample:   c.Sample,
		Seed:     seed,
		Repair:   c.Repair,
		Progress: progress.Part,
	})
	if err != nil && ctx.Err() != nil {
		return cli.Misusef("stopped, with %d problems found so far", report.Findings())
	}
	if err != nil {
		return cli.Misuse(explainRedis(err))
	}
	write := writeReport
	if c.JSON {
		write = writeReportJSON
	}
	if err := write(console.Out, report); err != nil {
		return cli.Misuse(err)
	}
	if c.Sample > 0 && !c.JSON {
		_, _ = fmt.Fprintf(console.Out, "To check the same users again, use --sample %d --seed %d.\n", c.Sample, seed)
	}
	return verdict(report, c.Repair)
}

// verdict returns the error for a report with problems.
func verdict(r check.Report, repair bool) error {
	n := r.Findings()
	switch {
	case n > 0 && repair:
		return fmt.Errorf("%d problems found, %d repaired: check again", n, r.Repaired)
	case n > 0:
		return fmt.Errorf("%d problems found: use --repair to repair them", n)
	case r.Unsettled > 0:
		return cli.Misusef("%d possible problems could not be confirmed, because pending outbox entries are not "+
			"delivered: make sure that a worker is running", r.Unsettled)
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
		_, _ = fmt.Fprintf(w, "Not distinguished from pending deliveries: %d.\n", r.Unsettled)
	}
	if len(r.Examples) > 0 {
		_, _ = fmt.Fprintln(w, "Examples:")
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
