// Package buildinfo describes the build that a program was made by.
package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Describe returns the version of the running program on one line: its module version, the
// revision of the repository, the Go version and the platform. The go command records the first
// two when it builds a package inside a repository.
func Describe(program string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return describe(program, info)
}

func describe(program string, info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{program + " " + cmp.Or(info.Main.Version, "(devel)")}
	if revision := settings["vcs.revision"]; revision != "" {
		text := "revision " + revision
		if committed := settings["vcs.time"]; committed != "" {
			text += " of " + committed
		}
		if settings["vcs.modified"] == "true" {
			text += " with uncommitted changes"
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, info.GoVersion, runtime.GOOS+"/"+runtime.GOARCH), ", ")
}
