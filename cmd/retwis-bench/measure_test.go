package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retwis/internal/bench/measure"
	"retwis/internal/cli"
)

func TestMeasure_ReportsFiguresOfAllMeasurements(t *testing.T) {
	t.Parallel()
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := t.TempDir() // without redis-benchmark
	if err := os.Symlink(redis, filepath.Join(path, "redis-server")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "figures.json")
	code, stdout, stderr := invoke(t, []string{"PATH=" + path}, "measure", "--small", "--runs", "2", "--service", serviceBinary, "--json", file)
	if code != 0 {
		t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"MEDIAN OF 2", "sorted sets of Redis in Action", "redis-benchmark is not installed", "raw gorilla/websocket"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report, err := measure.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measurements() {
		if !slices.ContainsFunc(report.Figures, func(s measure.Summary) bool { return s.Measurement == m.Name }) {
			t.Errorf("%s reports no figure", m.Name)
		}
	}
	for _, s := range report.Figures {
		// Memory per subscriber is too small to be seen at these sizes, and executions may be 0.
		if len(s.Values) != 2 || s.Median <= 0 && strings.HasSuffix(s.Unit, "/s") {
			t.Errorf("%s: %s is %v", s.Measurement, s.Name, s.Values)
		}
	}
	if code, stdout, _ := invoke(t, nil, "compare", file, file); code != 0 || !strings.Contains(stdout, "1.00 ×") {
		t.Errorf("compare: code %d, printed\n%s", code, stdout)
	}
}

func TestMeasure_ExplainsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		variables []string
		args      []string
		want      string
	}{
		{"no redis-server", []string{"PATH=" + t.TempDir()}, []string{"fanout"}, "install Redis 7 or later"},
		{"an unknown measurement", nil, []string{"speed"}, `unknown measurement "speed"`},
		{"no runs", nil, []string{"--runs", "0"}, "choose 1 to 100"},
		{"a missing directory", nil, []string{"fanout", "--json", "/nowhere/at/all.json"}, "the report cannot be written"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := invoke(t, tt.variables, append([]string{"measure"}, tt.args...)...)
			if code != cli.ExitMisuse || !strings.Contains(stderr, tt.want) {
				t.Errorf("code %d, printed %q", code, stderr)
			}
		})
	}
}

func TestMeasure_SelectsByName(t *testing.T) {
	t.Parallel()
	c := measureCommand{Names: []string{"page", "fan"}}
	selected, err := c.selected()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range selected {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "fanout fanout-elements page-memory page-http page-likes page-posts" {
		t.Errorf("selected %s", got)
	}
}

func TestCompare_RefusesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	figures, ofLoad := write("figures.json", `{"kind": "figures", "version": 1}`), write("load.json", `{"kind": "load", "version": 2}`)
	other, old := write("other.json", `{"a": 1}`), write("old.json", `{"kind": "load", "version": 1}`)
	for _, tt := range []struct{ first, second, want string }{
		{figures, ofLoad, "compare two of one kind"},
		{figures, other, "other.json is not a report of retwis-bench"},
		{figures, figures, "no figure in common"},
		{ofLoad, old, "version 1 cannot be read"},
		{ofLoad, filepath.Join(dir, "missing.json"), "no such file"},
	} {
		if code, _, stderr := invoke(t, nil, "compare", tt.first, tt.second); code != cli.ExitMisuse || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s and %s: code %d, printed %q", tt.first, tt.second, code, stderr)
		}
	}
}
