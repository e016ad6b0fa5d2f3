// Command retwis runs the timeline service: the API with a fan-out worker, or a worker only. It
// also has the commands that operators need to fill, check and repair a database.
package main

import (
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"retwis/internal/cli"
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

func main() {
	dropEmptyVariables()
	cli.Program{
		Name:          "retwis",
		Description:   "A timeline service: short posts, followers, and live timelines.",
		Commands:      &commands{},
		Options:       []kong.Option{kong.ValueFormatter(describeFlag)},
		Prepare:       joinNegative,
		Parsed:        warnOfUnknownVariables,
		StopIsSuccess: true,
	}.Main()
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
