package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"retwis/internal/store"
)

// doctorTime bounds a whole examination.
const doctorTime = time.Minute

// doctorCommand takes the flags and variables of serve, so that what it checks is what
// serve would run with.
type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`

	serveCommand
}

// Help is what doctor --help says besides the flags.
func (*doctorCommand) Help() string {
	return "Takes the flags and variables of serve, and checks them; then looks at the Redis they name, on a cluster at each node: " +
		"version, eviction, memory, persistence, replicas, slots, clocks, latency, pub/sub; and at the database: partitions, " +
		"work that waits, dead letters. It changes nothing. The exit code is 0 when all is well, with advice perhaps, 1 when " +
		"something is to be mended, and 2 when the configuration or the Redis cannot be used at all."
}

// Run examines, and fails when something is to be mended.
func (c *doctorCommand) Run(ctx context.Context, console console) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	found, err := c.examine(ctx, console)
	if err != nil {
		return misuse{err}
	}
	write := writeFindings
	if c.JSON {
		write = writeFindingsJSON
	}
	if err := write(console.out, found); err != nil {
		return misuse{err}
	}
	problems := 0
	for _, f := range found {
		if f.Verdict == store.Problem {
			problems++
		}
	}
	if problems > 0 {
		return fmt.Errorf("%d things are to be mended, as said above", problems)
	}
	return nil
}

func (c *doctorCommand) examine(ctx context.Context, console console) ([]store.Finding, error) {
	found := []store.Finding{{Subject: "configuration", Verdict: store.Fine, Says: "all flags and variables can be used"}}
	log := c.logger(console.err)
	redis, err := openRedis(ctx, c.RedisURL, c.DataDir, log)
	if err != nil {
		return nil, err
	}
	defer redis.close(ctx, log)
	where := store.Finding{Subject: "redis", Verdict: store.Fine, Says: redis.name + "; " + redis.keeps()}
	if redis.own != nil && redis.own.InProcess() {
		where.Verdict, where.Mend = store.Advice, "to keep data, install redis-server 7 or later, or name one by --redis-url (RETWIS_REDIS_URL)"
		return append(found, where), nil
	}
	options := c.storeSettings.options(log)
	options.URL = redis.url
	of, err := store.Diagnose(ctx, options)
	if err != nil {
		return nil, mendRedis(err)
	}
	return append(append(found, where), of...), nil
}

func writeFindings(w io.Writer, found []store.Finding) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range found {
		subject := f.Subject
		if f.Node != "" {
			subject += " of " + f.Node
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Verdict, subject, f.Says)
		if f.Mend != "" {
			_, _ = fmt.Fprintf(table, "\t\t-> %s\n", f.Mend)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}

func writeFindingsJSON(w io.Writer, found []store.Finding) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(map[string]any{"findings": found}); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}
