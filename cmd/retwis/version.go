package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// versionCommand says what was built.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(console console) error {
	_, err := fmt.Fprintln(console.out, describeBuild(thisBuild()))
	return err
}

// thisBuild is what this program was built from.
func thisBuild() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{GoVersion: runtime.Version()}
}

func describeBuild(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{"retwis", cmp.Or(info.Main.Version, "(devel)")}
	if revision := settings["vcs.revision"]; revision != "" {
		if settings["vcs.modified"] == "true" {
			revision += " with changes"
		}
		parts = append(parts, "revision "+revision)
	}
	parts = append(parts, info.GoVersion, runtime.GOOS+"/"+runtime.GOARCH)
	return strings.Join(parts, ", ")
}
