package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"text/tabwriter"
	"time"

	"retwis/internal/bench"
	"retwis/internal/loadtest"
	"retwis/internal/redisproc"
)

// baselineCommand measures the engine beside baselines of the same run.
type baselineCommand struct {
	Followers int           `default:"10000" placeholder:"N" help:"Of the author whose posts are delivered."`
	Posts     int           `default:"60" placeholder:"N" help:"To deliver."`
	Clients   int           `default:"32" placeholder:"N" help:"That read pages."`
	Duration  time.Duration `default:"5s" placeholder:"TIME" help:"How long to read pages."`
}

// Help is what bench baseline --help says besides the flags.
func (*baselineCommand) Help() string {
	return "Starts a redis-server of its own, without persistence, and measures there: the delivery of posts to followers beside " +
		"the sorted sets of Redis in Action, listing 10.15, and beside LPUSH of redis-benchmark, where that is installed; and " +
		"home pages over HTTP beside a handler that answers with a page from memory. Nothing else should run meanwhile."
}

// Validate is called once all flags are read.
func (c *baselineCommand) Validate() error {
	switch {
	case c.Followers < 1 || c.Followers > 1_000_000:
		return fmt.Errorf("--followers is %d: choose 1 to 1000000", c.Followers)
	case c.Posts < 1 || c.Posts > 10_000:
		return fmt.Errorf("--posts is %d: choose 1 to 10000", c.Posts)
	}
	return c.options("http://127.0.0.1").Check()
}

func (c *baselineCommand) options(url string) loadtest.Options {
	return loadtest.Options{
		URL: url, Scenario: loadtest.Read, Clients: c.Clients, Accounts: 5,
		Warmup: time.Second, Duration: c.Duration, Timeout: 10 * time.Second,
	}
}

// baseline is a figure of ours beside one of something else.
type baseline struct {
	what        string
	ours        float64
	beside      string
	theirs      float64
	unavailable string // why there is no other figure
}

// Run measures and prints ratios.
func (c *baselineCommand) Run(ctx context.Context, console console) error {
	w, err := bench.NewWorld(ctx)
	if errors.Is(err, redisproc.ErrMissing) {
		return misusef("%w: the engine is measured on one: install Redis 7 or later", err)
	}
	if err != nil {
		return err
	}
	defer w.Close()
	deliveries, err := c.deliveries(ctx, w, console)
	if err != nil {
		return err
	}
	pages, err := c.pages(ctx, w, console)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(console.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "what\tours\tbeside\t\tours / theirs")
	for _, b := range append(deliveries, pages...) {
		if b.unavailable != "" {
			_, _ = fmt.Fprintf(table, "%s\t%.0f/s\t%s\t-\t%s\n", b.what, b.ours, b.beside, b.unavailable)
			continue
		}
		_, _ = fmt.Fprintf(table, "%s\t%.0f/s\t%s\t%.0f/s\t%.2f ×\n", b.what, b.ours, b.beside, b.theirs, b.ours/b.theirs)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the figures: %w", err)
	}
	return nil
}

// deliveries measures fan-out.
func (c *baselineCommand) deliveries(ctx context.Context, w *bench.World, console console) ([]baseline, error) {
	const kept = 800 // entries of each home before
	say := func(what string) { _, _ = fmt.Fprintf(console.err, "measuring %s …\n", what) }
	say("fan-out")
	author, err := w.Audience(ctx, c.Followers)
	if err != nil {
		return nil, err
	}
	if err := w.FillHomes(ctx, kept); err != nil {
		return nil, err
	}
	ours, err := best(func() (float64, error) { return w.FanOut(ctx, author, c.Posts, c.Followers) })
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("deliveries to %d followers", c.Followers)
	zset := baseline{what: what, ours: ours, beside: "sorted sets of the book"}
	push := baseline{what: what, ours: ours, beside: "redis-benchmark -P 64 LPUSH"}
	say("sorted sets")
	zset.theirs, err = best(func() (float64, error) { return w.ZsetFanOut(ctx, c.Followers, kept, max(1, c.Posts/3)) })
	if err != nil {
		return nil, err
	}
	say("redis-benchmark")
	push.theirs, err = w.RedisBenchmark(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		push.unavailable, err = "redis-benchmark is not installed", nil
	}
	return []baseline{zset, push}, err
}

// best measures three times: other processes only make it slower.
func best(measure func() (float64, error)) (float64, error) {
	var highest float64
	for range 3 {
		rate, err := measure()
		if err != nil {
			return 0, err
		}
		highest = max(highest, rate)
	}
	return highest, nil
}

// pages measures home pages over HTTP, of processes of their own.
func (c *baselineCommand) pages(ctx context.Context, w *bench.World, console console) ([]baseline, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	rate := func(what string, args ...string) (float64, error) {
		_, _ = fmt.Fprintf(console.err, "measuring %s …\n", what)
		server, err := bench.StartServer(ctx, self, args...)
		if err != nil {
			return 0, err
		}
		defer server.Stop()
		report, err := loadtest.Run(ctx, c.options(server.URL))
		if err != nil {
			return 0, err
		}
		if len(report.Errors) > 0 || !report.Succeeded() {
			return 0, fmt.Errorf("%s failed: %v", what, report.Remarks())
		}
		return report.Operations[0].PerSecond, nil
	}
	b := baseline{what: fmt.Sprintf("home pages of 20 posts, %d clients", c.Clients), beside: "a page from memory, encoding/json"}
	if b.ours, err = rate("home pages", "serve", "--redis-url", w.URL, "--rate-limits", "off", "--log-level", "warn"); err != nil {
		return nil, err
	}
	b.theirs, err = rate("a raw handler", "bench", "raw-pages")
	return []baseline{b}, err
}

// rawPagesCommand is the server of pages that the service is measured beside.
type rawPagesCommand struct {
	Listen string `default:"127.0.0.1:0" placeholder:"ADDR" help:"Address to serve at."`
}

// Run serves until ctx is done.
func (c *rawPagesCommand) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: bench.RawPages(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
