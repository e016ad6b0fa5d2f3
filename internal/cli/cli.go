// Package cli runs the commands of a program: it parses flags, stops on signals, prints errors
// and sets the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes of a program after an error.
const (
	ExitFailure = 1
	ExitMisuse  = 2
)

// misuse is the error that [Misuse] returns.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse marks an error that recurs with the same flags and environment: the user avoids it by
// other flags or another set-up. The exit code is [ExitMisuse].
func Misuse(err error) error { return misuse{err} }

// Misusef is [Misuse] of an error formatted like [fmt.Errorf].
func Misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// Console has the outputs of a command. Kong passes it to the Run methods of commands.
type Console struct {
	Out io.Writer // results
	Err *os.File  // log, progress and errors
}

// Program is a program with commands.
type Program struct {
	Name        string
	Description string
	Commands    any           // a pointer to a struct whose fields are the commands, for kong
	Options     []kong.Option // in addition to those that all programs share

	StopIsSuccess bool // a command that a signal stops returns the exit code 0

	// Prepare returns the arguments to parse. By default they are not changed.
	Prepare func(args []string) []string
	// Parsed is called after parsing, before the command runs. It may be nil.
	Parsed func(console Console, app *kong.Application)
}

// Main runs the command that the arguments of the process select, and ends the process.
func (p Program) Main() {
	os.Exit(p.run(os.Args[1:], Console{Out: os.Stdout, Err: os.Stderr}))
}

// run runs a command and returns the exit code.
func (p Program) run(args []string, console Console) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	err := p.execute(ctx, args, console)
	if err == nil || p.StopIsSuccess && Stopped(ctx, err) {
		return 0
	}
	_, _ = fmt.Fprintf(console.Err, "%s: %s\n", p.Name, oneLine(err))
	if _, ok := errors.AsType[misuse](err); ok {
		return ExitMisuse
	}
	return ExitFailure
}

func (p Program) execute(ctx context.Context, args []string, console Console) error {
	parser, err := kong.New(p.Commands, slices.Concat([]kong.Option{
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.Writers(console.Out, console.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 120}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(console),
	}, p.Options)...)
	if err != nil {
		return fmt.Errorf("build the command line: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if p.Prepare != nil {
		args = p.Prepare(args)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return Misusef("%w (see %s --help)", err, p.Name)
	}
	if p.Parsed != nil {
		p.Parsed(console, parser.Model)
	}
	return parsed.Run()
}

// Stopped reports whether a command ended early because of a signal.
func Stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// oneLine returns the text of an error, or of several joined errors, on one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}
