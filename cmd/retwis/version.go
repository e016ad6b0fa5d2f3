package main

import (
	"fmt"

	"retwis/internal/buildinfo"
	"retwis/internal/cli"
)

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(console cli.Console) error {
	_, err := fmt.Fprintln(console.Out, buildinfo.Describe("retwis"))
	return err
}
