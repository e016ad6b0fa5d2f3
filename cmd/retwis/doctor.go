package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"retwis/internal/cli"
	"retwis/internal/store/inspect"
)

// doctorTime bounds the duration of all checks.
const doctorTime = time.Minute

// doctorCommand takes the flags and variables of serve, to check the configuration that serve would
// use.
type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`

	serveCommand
}

// Help is the text after the flags.
func (*doctorCommand) Help() string {
	return "Takes the flags and variables of serve and checks them. Then it checks Redis, on a cluster each node: " +
		"version, eviction, memory, persistence, replicas, slots, clocks, latency and pub/sub; and the database: partitions, " +
		"pending outbox entries and the dead-letter queue. It changes nothing. Exit codes: 0 without problems, possibly with warnings, 1 with " +
		"problems, 2 if the configuration or Redis cannot be used."
}

// Run checks the configuration, and returns an error if it found problems.
func (c *doctorCommand) Run(ctx context.Context, console cli.Console) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	found, err := c.examine(ctx, console)
	if err != nil {
		return cli.Misuse(err)
	}
	write := writeFindings
	if c.JSON {
		write = writeFindingsJSON
	}
	if err := write(console.Out, found); err != nil {
		return cli.Misuse(err)
	}
	problems := 0
	for _, f := range found {
		if f.Verdict == inspect.Problem {
			problems++
		}
	}
	if problems > 0 {
		return fmt.Errorf("%d problems found", problems)
	}
	return nil
}

func (c *doctorCommand) examine(ctx context.Context, console cli.Console) ([]inspect.Finding, error) {
	found := []inspect.Finding{{Subject: "configuration", Verdict: inspect.OK, Message: "all flags and variables are valid"}}
	log := c.logger(console.Err)
	redis, err := openRedis(ctx, c.RedisURL, c.DataDir, log)
	if err != nil {
		return nil, err
	}
	defer redis.close(ctx, log)
	where := inspect.Finding{Subject: "redis", Verdict: inspect.OK, Message: redis.name + "; " + redis.persistence()}
	if redis.own != nil && redis.own.InProcess() {
		where.Verdict, where.Fix = inspect.Warning, "to keep data, install redis-server 7 or later, or set --redis-url (RETWIS_REDIS_URL)"
		return append(found, where), nil
	}
	options := c.storeSettings.options(log)
	options.URL = redis.url
	of, err := inspect.Diagnose(ctx, options)
	if err != nil {
		return nil, explainRedis(err)
	}
	return append(append(found, where), of...), nil
}

func writeFindings(w io.Writer, found []inspect.Finding) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range found {
		subject := f.Subject
		if f.Node != "" {
			subject += " of " + f.Node
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Verdict, subject, f.Message)
		if f.Fix != "" {
			_, _ = fmt.Fprintf(table, "\t\t-> %s\n", f.Fix)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}

func writeFindingsJSON(w io.Writer, found []inspect.Finding) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(map[string]any{"findings": found}); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}
