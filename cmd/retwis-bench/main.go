// Command retwis-bench measures Retwis: a running server under load, or this version of the service
// beside what Redis, gqlgen and plain Go reach at the same tasks on the same machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"retwis/internal/buildinfo"
)

// commands are the commands of the program. Their fields are the flags.
type commands struct {
	Measure measureCommand `cmd:"" help:"Measure this version beside its baselines on this machine."`
	Load    loadCommand    `cmd:"" help:"Put load on a running server, and report latencies."`
	Compare compareCommand `cmd:"" help:"Compare two reports, both JSON."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Child   childCommand   `cmd:"" hidden:"" help:"Run a server for a measurement."`
}

// Exit codes. The second one is for errors that other flags avoid.
const (
	exitFailure = 1
	exitMisuse  = 2
)

// misuse is an error that the user avoids by other flags or another set-up.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// console is where a command writes its results, and its progress and errors.
type console struct {
	out io.Writer
	err *os.File
}

func main() {
	os.Exit(run(os.Args[1:], console{out: os.Stdout, err: os.Stderr}))
}

// run executes a command and returns the exit code.
func run(args []string, c console) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := execute(ctx, args, c)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(c.err, "retwis-bench: %s\n", strings.Join(strings.Fields(err.Error()), " "))
	if _, ok := errors.AsType[misuse](err); ok {
		return exitMisuse
	}
	return exitFailure
}

func execute(ctx context.Context, args []string, c console) error {
	parser, err := kong.New(&commands{},
		kong.Name("retwis-bench"),
		kong.Description("Measures Retwis: a running server under load, or this version beside its baselines."),
		kong.Writers(c.out, c.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 120}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		return fmt.Errorf("build the command line: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return misusef("%w (see retwis-bench --help)", err)
	}
	return parsed.Run()
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(console console) error {
	_, err := fmt.Fprintln(console.out, version())
	return err
}

func version() string { return buildinfo.Describe("retwis-bench") }
