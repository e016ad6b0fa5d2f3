package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/cli"
)

// compareCommand compares two reports.
type compareCommand struct {
	First  string `arg:"" name:"first" help:"A report as JSON."`
	Second string `arg:"" name:"second" help:"Another report of the same command."`
}

// Run prints the comparison.
func (c *compareCommand) Run(console cli.Console) error {
	if err := compare(console.Out, c.First, c.Second); err != nil {
		return cli.Misuse(err)
	}
	return nil
}

func compare(w io.Writer, first, second string) error {
	a, kind, err := readReport(first)
	if err != nil {
		return err
	}
	b, other, err := readReport(second)
	if err != nil {
		return err
	}
	switch {
	case kind != other:
		return fmt.Errorf("%s is a report of kind %s, %s one of kind %s: compare two of one kind", first, kind, second, other)
	case kind == measure.Kind:
		return compareAs(w, a, b, measure.Parse, measure.Compare)
	default:
		return compareAs(w, a, b, load.Parse, load.Compare)
	}
}

// compareAs parses two reports of one kind and prints their comparison.
func compareAs[R any](w io.Writer, a, b []byte, parse func([]byte) (*R, error), print func(io.Writer, *R, *R) error) error {
	first, err := parse(a)
	if err != nil {
		return err
	}
	second, err := parse(b)
	if err != nil {
		return err
	}
	return print(w, first, second)
}

// readReport reads a report, and finds out its kind.
func readReport(path string) (text []byte, kind string, err error) {
	if text, err = os.ReadFile(path); err != nil {
		return nil, "", fmt.Errorf("read a report: %w", err)
	}
	var header struct{ Kind string }
	if err := json.Unmarshal(text, &header); err != nil || header.Kind != measure.Kind && header.Kind != load.Kind {
		return nil, "", fmt.Errorf("%s is not a report of retwis-bench", path)
	}
	return text, header.Kind, nil
}
