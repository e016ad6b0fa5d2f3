package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// variablePrefix is what the names of all our variables begin with.
const variablePrefix = "RETWIS_"

// dropEmptyVariables makes a variable that is set to nothing, as tools that pass
// variables on do, the same as one that is not set.
func dropEmptyVariables() {
	for _, name := range variables() {
		if os.Getenv(name) == "" {
			_ = os.Unsetenv(name) // fails for impossible names only
		}
	}
}

// warnOfUnknownVariables tells of variables that no command reads: a setting that is
// misspelt would silently have no effect.
func warnOfUnknownVariables(w io.Writer, app *kong.Application) {
	var known []string
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error { // its only errors would be ours
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	})
	for _, name := range variables() {
		if !slices.Contains(known, name) {
			_, _ = fmt.Fprintf(w, "retwis: the variable %s is not known and has no effect\n", name)
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

// describeFlag is the help of a flag: what it means, its default, and its variable.
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
