package main

import (
	"path/filepath"
	"strings"
	"testing"

	"retwis/internal/loadtest"
	"retwis/internal/redistest"
)

func TestBench(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	if code, stdout, stderr := invoke(t, env, "seed", "--users", "0", "--star", "40"); code != 0 {
		t.Fatalf("seed: code %d, printed\n%s%s", code, stdout, stderr)
	}
	service := serve(t, env, "--rate-limits", "off")
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
		args := append([]string{
			"bench", "--url", service.url, "--scenario", tt.scenario, "--accounts", "3", "--warmup", "0s", "--duration", "1s",
			"--timeout", "1m", "--json", json, "--report", page,
		}, tt.args...)
		code, stdout, stderr := invoke(t, env, args...)
		if code != 0 || !strings.Contains(stdout, "p99.9") || strings.ContainsAny(stderr, "\r\x1b") {
			t.Fatalf("%s: code %d, printed\n%s%s", tt.scenario, code, stdout, stderr)
		}
		report, err := loadtest.ReadReport(json)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Errors) > 0 || report.Missing != "" || !report.Succeeded() || len(report.Timeline) == 0 {
			t.Errorf("%s: the report says %+v", tt.scenario, report)
		}
		switch d := report.Deliveries; tt.scenario {
		case "live", "fanout":
			if posts := report.Operations[0].Count; d == nil || d.Count != posts*report.Settings.Clients || report.Reached.Count != posts {
				t.Errorf("%s: %d posts had %+v deliveries to %d subscriptions", tt.scenario, posts, d, report.Settings.Clients)
			}
		}
		if tt.scenario == "fanout" && report.Settings.Followers != 43 {
			t.Errorf("star has %d followers", report.Settings.Followers)
		}
	}

	read := filepath.Join(dir, "read.json")
	code, stdout, _ := invoke(t, env, "bench", "--compare", read, read)
	if code != 0 || !strings.Contains(stdout, "1.00 ×") {
		t.Errorf("compare: code %d, printed\n%s", code, stdout)
	}
	service.stop()
}

func TestBenchSaysWhatKeepsItFromMeasuring(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	limited := serve(t, env, "--rate-limits", "on", "--limit-reads", "off", "--limit-logins", "2/1h") // one is for registering
	someone := register(t, limited.url, "someone")
	free := serve(t, env, "--rate-limits", "off")
	dir := t.TempDir()
	some, page := filepath.Join(dir, "some.json"), filepath.Join(dir, "page.html")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no server", []string{"--url", "http://127.0.0.1:1", "--report", page}, "no server answers at http://127.0.0.1:1"},
		{"no URL", []string{"--url", "somewhere"}, "is no URL of a server"},
		{"limits", []string{"--url", limited.url, "--accounts", "2"}, "follows to 120 in 60 s, logins to 2 in 3600 s, registrations to 5 in 3600 s): start the server with --rate-limits off"},
		{"a full disk", []string{"--url", free.url, "--accounts", "2", "--warmup", "0s", "--duration", "1s", "--report", "/dev/full"}, "no space left on device"},
		{"a path", []string{"--url", free.url + "/graphql"}, "without a path"},
		{"no such folder", []string{"--url", free.url, "--json", "/nowhere/at/all.json"}, "the report cannot be written"},
		{"one file for two", []string{"--report", some, "--json", some}, "choose two files"},
		{"no such scenario", []string{"--scenario", "sleep"}, "choose read, post, mixed, live or fanout"},
		{"a rate below 0", []string{"--rate=-1"}, "the rate is -1"},
		{"no rate for posts", []string{"--scenario", "live", "--rate", "0"}, "choose one above 0"},
		{"no clients", []string{"--clients", "0"}, "choose 1 to 100000"},
		{"nobody to post", []string{"--url", free.url, "--scenario", "fanout", "--accounts", "2"}, "retwis seed --star"},
		{"one report", []string{"--compare", some}, "--compare a.json b.json"},
		{"a report that is not there", []string{"--compare", some, some}, "no such file"},
		{"to compare and to measure", []string{"--compare", some, some, "--report", page}, "to compare measures nothing"},
		{"an unknown flag", []string{"--speed", "1"}, "unknown flag --speed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, stderr := invoke(t, env, append([]string{"bench"}, tt.args...)...)
			last := strings.Split(strings.TrimSpace(stderr), "\n")
			if code != exitMisuse || !strings.Contains(last[len(last)-1], tt.want) {
				t.Errorf("code %d, said\n%s", code, stderr)
			}
		})
	}
	if left, err := filepath.Glob(dir + "/*"); err != nil || len(left) > 0 {
		t.Errorf("it left %q, %v", left, err)
	}
	// Finding out about the limits has not used them up.
	someone.login("someone", somePassword)
	limited.stop()
	free.stop()
}
