package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"retwis/internal/bench/database"
	"retwis/internal/bench/engine"
	"retwis/internal/bench/live"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/page"
	"retwis/internal/bench/process"
	"retwis/internal/bench/service"
	"retwis/internal/cli"
	"retwis/internal/redisproc"
)

// measurements returns all measurements in the order in which they run.
func measurements() []measure.Measurement {
	return []measure.Measurement{
		{Name: "fanout", Help: "deliveries per second to many followers", Do: engine.FanOut},
		{Name: "fanout-elements", Help: "cost of the delivery of replies and reposts beside that of posts", Do: engine.Elements},
		{Name: "merge-marks", Help: "the same to followers whose homes were just built", Do: engine.MergeMarks},
		{Name: "scale", Help: "cost of a delivery from 100 to 1 000 000 followers", Do: engine.Scale},
		{Name: "small", Help: "delay of small authors while a large author's post is delivered", Do: engine.SmallAuthors},
		{Name: "accounts", Help: "memory of Redis per account, session and post", Do: engine.Accounts},
		{Name: "memory", Help: "memory of Redis per timeline entry and follow", Do: engine.Memory},
		{Name: "seeded", Help: "memory of a seeded database, and the time of a check", Do: database.Seeded},
		{Name: "http", Help: "posts and home pages per second from the service's binary", Do: service.OverHTTP},
		{Name: "http-seeded", Help: "deliveries per second to new followers, from the service's binary", Do: service.AfterSeed},
		{Name: "http-workers", Help: "deliveries per second by worker processes while pages are read, from the service's binary", Do: service.Workers},
		{Name: "page-memory", Help: "CPU and allocations of a home page, data in memory", Do: page.InMemory},
		{Name: "page-http", Help: "CPU, rate and latency of a home page over HTTP", Do: page.OverHTTP},
		{Name: "page-likes", Help: "CPU of a home page with the likes of its posts beside one without", Do: page.WithLikes},
		{Name: "page-posts", Help: "the same with up to 1 000 000 posts stored", Do: page.ByPosts},
		{Name: "live", Help: "CPU, memory and latency of open subscriptions", Do: live.Delivery},
	}
}

// measureCommand measures this version beside its baselines.
type measureCommand struct {
	Names []string `arg:"" optional:"" name:"name" help:"Measure only what has one of these words in its name."`

	Runs    int    `default:"1" placeholder:"N" help:"Repeat everything, and report medians."`
	JSON    string `name:"json" placeholder:"FILE" help:"Write the report as JSON, for compare."`
	Service string `placeholder:"FILE" help:"Binary of the service to measure in http, http-seeded and http-workers; by default it is built from the source in the working directory."`
	Small   bool   `hidden:"" help:"Use small sizes, to test this program. The figures mean nothing."`
}

// Help is the text after the flags.
func (*measureCommand) Help() string {
	var b strings.Builder
	b.WriteString("Starts a redis-server of its own, without persistence. Nothing else should run on the machine.\n\nMeasurements:\n")
	for _, m := range measurements() {
		fmt.Fprintf(&b, "  %-12s %s\n", m.Name, m.Help)
	}
	return b.String()
}

// Validate checks the flags.
func (c *measureCommand) Validate() error {
	if c.Runs < 1 || c.Runs > 100 {
		return fmt.Errorf("--runs is %d: choose 1 to 100", c.Runs)
	}
	_, err := c.selected()
	return err
}

// selected returns the measurements that the arguments name.
func (c *measureCommand) selected() ([]measure.Measurement, error) {
	if len(c.Names) == 0 {
		return measurements(), nil
	}
	wanted := map[string]bool{}
	for _, word := range c.Names {
		found := false
		for _, m := range measurements() {
			if strings.Contains(m.Name, word) {
				wanted[m.Name], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown measurement %q: see retwis-bench measure --help", word)
		}
	}
	var selected []measure.Measurement
	for _, m := range measurements() {
		if wanted[m.Name] {
			selected = append(selected, m)
		}
	}
	return selected, nil
}

// Run measures and reports.
func (c *measureCommand) Run(ctx context.Context, console cli.Console) error {
	selected, err := c.selected()
	if err != nil {
		return cli.Misuse(err)
	}
	release, err := reserveFiles(c.JSON)
	if err != nil {
		return err
	}
	defer release()
	options := measure.Options{Runs: c.Runs, Small: c.Small, Service: c.Service, Log: console.Err}
	if options.Service == "" && needService(selected) {
		_, _ = fmt.Fprintln(console.Err, "building the service")
		dir, err := os.MkdirTemp("", "retwis-bench")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if options.Service, err = process.BuildService(ctx, dir); err != nil {
			return cli.Misusef("%w: run this in the repository, or name a binary with --service", err)
		}
	}
	report, err := measure.Do(ctx, selected, options)
	if errors.Is(err, redisproc.ErrMissing) {
		return cli.Misusef("%w: install Redis %d or later", err, redisproc.MinVersion)
	}
	if err != nil {
		return err
	}
	report.Program = version()
	if err := report.Print(console.Out); err != nil {
		return err
	}
	return writeFile(c.JSON, report.WriteJSON)
}

// needService reports whether a measurement needs the service's binary.
func needService(selected []measure.Measurement) bool {
	return slices.ContainsFunc(selected, func(m measure.Measurement) bool { return strings.HasPrefix(m.Name, "http") })
}
