// Command bench measures the engine and prints each figure beside a baseline of the same
// run and the same machine, with the goal of the design. It starts a redis-server of its
// own, without persistence, on a unix socket, and the program itself for what goes over
// HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
)

func main() {
	only := flag.String("only", "", "measure only what has one of these words in its name, separated by commas")
	child := flag.String("live", "", "be one of the servers that live delivery is measured on: for this program itself")
	database := flag.String("redis", "", "and its database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *child != "" {
		if err := serveLive(ctx, *child, *database); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1) //nolint:gocritic // nothing is left to stop
		}
		return
	}
	if err := run(ctx, strings.FieldsFunc(*only, func(c rune) bool { return c == ',' })); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measurement is one part of the report.
type measurement struct {
	name string
	run  func(context.Context, *report) error
}

func run(ctx context.Context, only []string) error {
	r := &report{}
	for _, m := range []measurement{
		{"fanout", measureFanOut},
		{"scale", measureScale},
		{"small", measureSmallAuthors},
		{"accounts", measureAccounts},
		{"memory", measureMemory},
		{"http", measureHTTP},
		{"page-memory", measurePagesInMemory},
		{"page-http", measurePagesOverHTTP},
		{"page-posts", measurePagesByPosts},
		{"live", measureLive},
	} {
		if !wanted(m.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", m.name)
		if err := m.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if len(r.rows) == 0 {
		return errors.New("nothing was measured: see -only")
	}
	return r.print()
}

func wanted(name string, only []string) bool {
	for _, word := range only {
		if strings.Contains(name, word) {
			return true
		}
	}
	return len(only) == 0
}

// report is a table of figures.
type report struct{ rows [][4]string }

// add enters a figure, what it is compared with, and the goal.
func (r *report) add(what, figure, comparison, goal string) {
	fmt.Fprintf(os.Stderr, "  %s: %s  %s\n", what, figure, comparison)
	r.rows = append(r.rows, [4]string{what, figure, comparison, goal})
}

func (r *report) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	lines := []string{"what\tfigure\tin the same run\tgoal"}
	for _, row := range r.rows {
		lines = append(lines, strings.Join(row[:], "\t"))
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return w.Flush()
}
