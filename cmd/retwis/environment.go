package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"retwis/internal/cli"
)

// variablePrefix begins the names of all variables of the program.
const variablePrefix = "RETWIS_"

// dropEmptyVariables unsets empty variables. Tools that pass variables on set them to nothing.
func dropEmptyVariables() {
	for _, name := range variables() {
		if os.Getenv(name) == "" {
			_ = os.Unsetenv(name) // it fails for invalid names only
		}
	}
}

// warnOfUnknownVariables prints the RETWIS_* variables that no command reads. A misspelt setting would
// silently have no effect.
func warnOfUnknownVariables(console cli.Console, app *kong.Application) {
	var known []string
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error { // the function returns no error
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	})
	for _, name := range variables() {
		if !slices.Contains(known, name) {
			_, _ = fmt.Fprintf(console.Err, "retwis: unknown variable %s has no effect\n", name)
		}
	}
}

func variables() []string {
	var names []string
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, variablePrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// describeFlag returns the help of a flag, with its default and its variable.
func describeFlag(value *kong.Value) string {
	var notes []string
	if value.HasDefault {
		notes = append(notes, "default "+value.Default)
	}
	if len(value.Tag.Envs) > 0 {
		notes = append(notes, value.Tag.Envs[0])
	}
	if len(notes) == 0 {
		return value.Help
	}
	return value.Help + " [" + strings.Join(notes, ", ") + "]"
}
