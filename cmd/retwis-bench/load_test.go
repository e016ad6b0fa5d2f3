package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/cli"
	"retwis/internal/redistest"
)

func parseLoad(t *testing.T, path string) *load.Report {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := load.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestLoad_ReportsEachScenario(t *testing.T) {
	t.Parallel()
	redis := redistest.Server(t).URL()
	if code, stdout, stderr := runBinary(t, serviceBinary, nil, []string{"seed", "--redis-url", redis, "--users", "0", "--star", "40"}); code != 0 {
		t.Fatalf("seed: code %d, printed\n%s%s", code, stdout, stderr)
	}
	url := serve(t, redis, "--rate-limits", "off")
	dir := t.TempDir()
	for _, tt := range []struct {
		scenario string
		args     []string
	}{
		{"mixed", []string{"--clients", "4"}},
		{"read", []string{"--rate", "20"}},
		{"post", []string{"--rate", "10"}},
		{"live", []string{"--clients", "12", "--rate", "10"}},
		{"fanout", []string{"--clients", "6", "--rate", "4"}},
	} {
		json, page := filepath.Join(dir, tt.scenario+".json"), filepath.Join(dir, tt.scenario+".html")
		code, stdout, stderr := invoke(t, nil, append([]string{
			"load", "--url", url, "--scenario", tt.scenario, "--accounts", "3", "--warmup", "0s", "--duration", "1s",
			"--timeout", "1m", "--json", json, "--report", page,
		}, tt.args...)...)
		if code != 0 || !strings.Contains(stdout, "p99.9") || strings.ContainsAny(stderr, "\r\x1b") {
			t.Fatalf("%s: code %d, printed\n%s%s", tt.scenario, code, stdout, stderr)
		}
		report := parseLoad(t, json)
		if len(report.Errors) > 0 || report.Missing != "" || !report.Succeeded() || len(report.Timeline) == 0 {
			t.Errorf("%s: the report is %+v", tt.scenario, report)
		}
		switch d := report.Deliveries; tt.scenario {
		case "live", "fanout":
			if posts := report.Operations[0].Count; d == nil || d.Count != posts*report.Settings.Clients || report.Reached.Count != posts {
				t.Errorf("%s: %d posts had deliveries %+v to %d subscriptions", tt.scenario, posts, d, report.Settings.Clients)
			}
		}
		if tt.scenario == "fanout" && report.Settings.Followers != 43 {
			t.Errorf("the author has %d followers, want 40 of the seed and 3 of the test", report.Settings.Followers)
		}
	}

	read, mixed := filepath.Join(dir, "read.json"), filepath.Join(dir, "mixed.json")
	if code, stdout, _ := invoke(t, nil, "compare", read, read); code != 0 || !strings.Contains(stdout, "1.00 ×") {
		t.Errorf("compare: code %d, printed\n%s", code, stdout)
	}
	if code, _, stderr := invoke(t, nil, "compare", read, mixed); code != cli.ExitMisuse || !strings.Contains(stderr, "different scenarios") {
		t.Errorf("compare of two scenarios: code %d, printed\n%s", code, stderr)
	}
}

func TestLoad_ExplainsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	redis := redistest.Server(t).URL()
	limited := serve(t, redis, "--limit-reads", "off", "--limit-logins", "2/1h")
	unlimited := serve(t, redis, "--rate-limits", "off")
	client, err := load.NewClient(limited, 1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	someone := func(mutation string) {
		t.Helper()
		request := load.NewRequest(`mutation { `+mutation+`(input: { username: "someone", password: "a long password" }) { userErrors { code } } }`, nil)
		if err := client.Do(t.Context(), "", request, nil); err != nil {
			t.Errorf("%s: %v", mutation, err)
		}
	}
	someone("register")
	dir := t.TempDir()
	file, page := filepath.Join(dir, "file.json"), filepath.Join(dir, "page.html")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no server", []string{"--url", "http://127.0.0.1:1", "--report", page}, "no server answers at http://127.0.0.1:1"},
		{"not a URL", []string{"--url", "somewhere"}, "is not the URL of a server"},
		{"rate limits", []string{"--url", limited, "--accounts", "2"}, "follows: 120 in 60 s, logins: 2 in 3600 s, registrations: 5 in 3600 s): start the server with --rate-limits off"},
		{"a full disk", []string{"--url", unlimited, "--accounts", "2", "--warmup", "0s", "--duration", "1s", "--report", "/dev/full"}, "no space left on device"},
		{"a path", []string{"--url", unlimited + "/graphql"}, "without a path"},
		{"a missing directory", []string{"--url", unlimited, "--json", "/nowhere/at/all.json"}, "the report cannot be written"},
		{"one file for two reports", []string{"--report", file, "--json", file}, "choose two files"},
		{"an unknown scenario", []string{"--scenario", "sleep"}, "choose read, post, mixed, live or fanout"},
		{"a negative rate", []string{"--rate=-1"}, "the rate is -1"},
		{"a rate that is not a number", []string{"--rate", "NaN"}, "the rate is NaN"},
		{"a tiny rate", []string{"--rate", "1e-300"}, "choose 0.01 to 1000000"},
		{"a negative duration", []string{"--duration=-5s"}, "the duration is -5s: choose 1s to 24h"},
		{"no rate of posts", []string{"--scenario", "live", "--rate", "0"}, "needs a rate of posts above 0"},
		{"no clients", []string{"--clients", "0"}, "choose 1 to 100000"},
		{"no author", []string{"--url", unlimited, "--scenario", "fanout", "--accounts", "2"}, "retwis seed --star"},
		{"an unknown flag", []string{"--speed", "1"}, "unknown flag --speed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, stderr := invoke(t, nil, append([]string{"load"}, tt.args...)...)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			if code != cli.ExitMisuse || !strings.Contains(lines[len(lines)-1], tt.want) {
				t.Errorf("code %d, printed\n%s", code, stderr)
			}
		})
	}
	if left, err := filepath.Glob(dir + "/*"); err != nil || len(left) > 0 {
		t.Errorf("it left %q, %v", left, err)
	}
	// The budget of two logins is used by the registration and this login alone.
	someone("login")
}
