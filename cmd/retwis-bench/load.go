package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/cli"
	"retwis/internal/terminal"
)

// loadCommand puts load on a running server.
type loadCommand struct {
	URL      string        `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server."`
	Scenario string        `default:"mixed" placeholder:"NAME" help:"The kind of load: read, post, mixed, live or fanout."`
	Rate     *float64      `placeholder:"N" help:"Operations per second, however slow the server is (open loop). By default each client sends the next operation when the last one is answered (closed loop). For live it is posts per second, by default 5; for fanout by default 1."`
	Clients  int           `default:"32" placeholder:"N" help:"Concurrent operations; for live and fanout, open subscriptions."`
	Accounts int           `default:"20" placeholder:"N" help:"Accounts to use. The test registers them if necessary, and they follow each other."`
	Author   string        `default:"star" placeholder:"NAME" help:"For fanout: the author of the posts."`
	Password string        `default:"password" placeholder:"WORD" help:"For fanout: the author's password."`
	Duration time.Duration `default:"20s" placeholder:"TIME" help:"Duration of the measurement."`
	Warmup   time.Duration `default:"2s" placeholder:"TIME" help:"Duration of the load before the measurement."`
	Timeout  time.Duration `default:"10s" placeholder:"TIME" help:"Timeout of one operation."`
	Report   string        `placeholder:"FILE" help:"Write the report as an HTML page with plots."`
	JSON     string        `name:"json" placeholder:"FILE" help:"Write the report as JSON, for compare."`
}

// Help is the text after the flags.
func (*loadCommand) Help() string {
	var b strings.Builder
	b.WriteString("Scenarios:\n")
	for _, s := range load.Scenarios() {
		fmt.Fprintf(&b, "  %-7s %s\n", s[0], s[1])
	}
	return b.String() + "\nThe server must run with --rate-limits off. For fanout, retwis seed --star 10000 " +
		"registers an author with 10000 followers."
}

// Validate checks the flags.
func (c *loadCommand) Validate() error {
	if c.Report != "" && c.Report == c.JSON {
		return fmt.Errorf("--report and --json are both %s: choose two files", c.Report)
	}
	return c.options().Check()
}

func (c *loadCommand) options() load.Options {
	o := load.Options{
		URL: c.URL, Scenario: c.Scenario, Clients: c.Clients, Accounts: c.Accounts, Author: c.Author, Password: c.Password,
		Warmup: c.Warmup, Duration: c.Duration, Timeout: c.Timeout,
	}
	switch {
	case c.Rate != nil:
		o.Rate = *c.Rate
	case c.Scenario == load.Live:
		o.Rate = 5
	case c.Scenario == load.Fanout:
		o.Rate = 1
	}
	return o
}

// Run carries out the load test and reports.
func (c *loadCommand) Run(ctx context.Context, console cli.Console) error {
	release, err := reserveFiles(c.Report, c.JSON)
	if err != nil {
		return err
	}
	defer release()
	o := c.options()
	o.Preparing, o.Progress = terminal.NewProgress(console.Err).Part, loadView{console.Err, o}.show
	report, err := load.Run(ctx, o)
	if errors.Is(err, load.ErrSetup) && ctx.Err() == nil {
		return cli.Misuse(err)
	}
	if err != nil {
		return err
	}
	report.Program = version()
	if err := report.Print(console.Out); err != nil {
		return err
	}
	if err := errors.Join(writeFile(c.Report, report.WriteHTML), writeFile(c.JSON, report.WriteJSON)); err != nil {
		return err
	}
	if !report.Succeeded() {
		return errors.New("no operation succeeded")
	}
	return nil
}
