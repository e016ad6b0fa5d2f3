package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe_NamesVersionRevisionAndPlatform(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	for _, tt := range []struct {
		name     string
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"a build outside a repository", "", nil, "retwis (devel), go1.26.0, " + platform},
		{
			"a release", "v1.2.3",
			[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}, {Key: "vcs.modified", Value: "false"}},
			"retwis v1.2.3, revision 0123abc of 2026-11-22T10:00:00Z, go1.26.0, " + platform,
		},
		{
			"a build with changes", "(devel)",
			[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "true"}},
			"retwis (devel), revision 0123abc with uncommitted changes, go1.26.0, " + platform,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: tt.version}, Settings: tt.settings}
			if got := describe("retwis", info); got != tt.want {
				t.Errorf("describe returns %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDescribe_ReadsTheRunningProgram(t *testing.T) {
	t.Parallel()
	if got := Describe("retwis"); !strings.HasPrefix(got, "retwis ") || !strings.Contains(got, runtime.Version()) {
		t.Errorf("Describe returns %q", got)
	}
}
