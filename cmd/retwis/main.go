// Command retwis runs the timeline service: the API with a fan-out worker, or a worker only. It
// also has the commands that operators need to fill, check and repair a database.
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

// commands are the commands of the program. Their fields are the flags. Most flags can also be set
// in the environment.
type commands struct {
	Serve      serveCommand   `cmd:"" help:"Run the service: the API and a fan-out worker."`
	Worker     workerCommand  `cmd:"" help:"Run only a fan-out worker, on the Redis of a service."`
	Seed       seedCommand    `cmd:"" help:"Fill a database with test data: users, follows and posts."`
	Doctor     doctorCommand  `cmd:"" help:"Check a configuration and its Redis, and print what to fix."`
	Check      checkCommand   `cmd:"" help:"Check the consistency of a database, and repair it."`
	Rebuild    rebuildCommand `cmd:"" help:"Rebuild home timelines."`
	Deadletter letterCommands `cmd:"" help:"List or requeue the entries of the dead-letter queue."`
	Version    versionCommand `cmd:"" help:"Print the version."`
}

// Exit codes. The second one is for errors that recur with the same flags and environment.
const (
	exitFailure = 1
	exitMisuse  = 2
)

// misuse is an error that the user avoids by other flags, or by another set-up of Redis.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// console is where a command writes its results, and its log, progress and errors.
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
		kong.Description("A timeline service: short posts, followers, and live timelines."),
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
		return misusef("%w (see retwis --help)", err)
	}
	warnOfUnknownVariables(c.err, parser.Model)
	return parsed.Run()
}

// joinNegative writes --flag -1 as --flag=-1, because the parser takes an argument that begins with a
// hyphen for a flag. The parser's own option for this would let a flag without its value consume the
// next flag.
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

// oneLine returns the text of an error, or of several joined errors, on one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// isStop reports whether a command ended early because of a signal.
func isStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
