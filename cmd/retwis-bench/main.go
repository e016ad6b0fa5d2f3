// Command retwis-bench measures Retwis: a running server under load, or this version of the service
// beside what Redis, gqlgen and plain Go reach at the same tasks on the same machine.
package main

import (
	"fmt"

	"retwis/internal/buildinfo"
	"retwis/internal/cli"
)

// commands are the commands of the program. Their fields are the flags.
type commands struct {
	Measure measureCommand `cmd:"" help:"Measure this version beside its baselines on this machine."`
	Load    loadCommand    `cmd:"" help:"Put load on a running server, and report latencies."`
	Compare compareCommand `cmd:"" help:"Compare two reports, both JSON."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Child   childCommand   `cmd:"" hidden:"" help:"Run a server for a measurement."`
}

func main() {
	cli.Program{
		Name:        "retwis-bench",
		Description: "Measures Retwis: a running server under load, or this version beside its baselines.",
		Commands:    &commands{},
	}.Main()
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(console cli.Console) error {
	_, err := fmt.Fprintln(console.Out, version())
	return err
}

func version() string { return buildinfo.Describe("retwis-bench") }
