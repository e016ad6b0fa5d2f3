package main

import (
	"fmt"

	"retwis/internal/buildinfo"
)

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(console console) error {
	_, err := fmt.Fprintln(console.out, buildinfo.Describe("retwis"))
	return err
}
