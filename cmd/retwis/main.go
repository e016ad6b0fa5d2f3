// Command retwis is the timeline service: the API with its fan-out worker, a worker
// alone, and what whoever runs them needs beside them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands are what the program can do. Their fields are the flags; each of these can
// be set in the environment too.
type commands struct {
	Serve      serveCommand   `cmd:"" help:"Run the service: the API, and the fan-out worker beside it."`
	Worker     workerCommand  `cmd:"" help:"Run a fan-out worker alone, on the Redis of a service."`
	Seed       seedCommand    `cmd:"" help:"Fill a database with people, follows and posts to try things on."`
	Doctor     doctorCommand  `cmd:"" help:"Check a configuration and its Redis, and say what to mend."`
	Check      checkCommand   `cmd:"" help:"Compare a database with what it should hold, and mend it."`
	Rebuild    rebuildCommand `cmd:"" help:"Build home timelines anew."`
	Deadletter letterCommands `cmd:"" help:"Look at what the worker had to give up, and try it again."`
	Version    versionCommand `cmd:"" help:"Say which version this is."`
}

// Exit codes. 2 is for what another start with the same flags and environment would end
// in again.
const (
	exitFailure = 1
	exitMisuse  = 2
)

// misuse is an error that is mended by starting the program in another way, or by
// setting up its Redis in another way.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// console is where a command writes: what it was asked for, and what happens meanwhile.
type console struct {
	out io.Writer
	err *os.File
}

func main() {
	os.Exit(run(os.Args[1:], console{out: os.Stdout, err: os.Stderr}))
}

// run carries a command out and returns the exit code.
func run(args []string, c console) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// From the first signal on the second has the effect it has on every program: the end.
	context.AfterFunc(ctx, stop)

	err := execute(ctx, args, c)
	if err == nil || isStop(ctx, err) {
		return 0
	}
	_, _ = fmt.Fprintf(c.err, "retwis: %s\n", oneLine(err))
	if _, ok := errors.AsType[misuse](err); ok {
		return exitMisuse
	}
	return exitFailure
}

func execute(ctx context.Context, args []string, c console) error {
	dropEmptyVariables()
	parser, err := kong.New(&commands{},
		kong.Name("retwis"),
		kong.Description("A timeline service: short posts, people who follow each other, and timelines that are live."),
		kong.Writers(c.out, c.err),
		kong.ValueFormatter(describeFlag),
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
	parsed, err := parser.Parse(joinNegative(args))
	if err != nil {
		return misusef("%w (retwis --help lists what there is)", err)
	}
	warnOfUnknownVariables(c.err, parser.Model)
	return parsed.Run()
}

// joinNegative writes --flag -1 as --flag=-1. The parser takes what begins with a hyphen for
// a flag; with its own remedy a flag whose value was forgotten would swallow the next flag.
func joinNegative(args []string) []string {
	var joined []string
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...)
		}
		if n := len(joined) - 1; n >= 0 && negativeNumber.MatchString(arg) &&
			strings.HasPrefix(joined[n], "--") && !strings.Contains(joined[n], "=") {
			joined[n] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

var negativeNumber = regexp.MustCompile(`^-\.?[0-9]`)

// oneLine is an error, or several that were joined, as the last line of the log.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// isStop reports whether a command ended because it was told to, before it was done.
func isStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
