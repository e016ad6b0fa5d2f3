package loadtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func someReport(slower float64) *Report {
	r := newRecorder(time.Now().Add(-10*time.Second), true)
	for n := range 1000 {
		enter(r.deliveries, time.Duration(slower*float64(n))*time.Microsecond)
		enter(r.reached, time.Duration(slower*float64(n))*time.Microsecond)
	}
	r.operation("posts", time.Now().Add(-time.Duration(slower*float64(10*time.Millisecond))), nil)
	r.operation("posts", time.Now(), &failure{kind: "BAD", text: "BAD: </script><script>alert(1)</script>"})
	r.operation("posts", time.Now(), errLimited)
	r.tick(time.Now())
	report := &Report{Version: reportVersion, Settings: settingsOf(Options{Scenario: Live, Rate: 5, Clients: 10}, 3)}
	r.fill(report, time.Now())
	return report
}

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	report := someReport(1)
	path := filepath.Join(t.TempDir(), "report.json")
	var written bytes.Buffer
	if err := report.WriteJSON(&written); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, written.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := ReadReport(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"no json":          "is no report of retwis bench",
		`{"a": 1}`:         "is no report of retwis bench",
		`{"version": 999}`: "is a report of version 999",
	} {
		path := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReport(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %s it says %v", content, err)
		}
	}
}

func TestReportsAreComparedByRatio(t *testing.T) {
	t.Parallel()
	a, b := someReport(1), someReport(2)
	var out strings.Builder
	if err := Compare(&out, a, b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`deliveries, p50 +0\.50 ms +1\.00 ms +2\.00 ×`, `until the last, p90 +0\.90 ms +1\.80 ms +2\.00 ×`, `posts, errors +2 +2 +1\.00 ×`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("it does not say %s:\n%s", want, &out)
		}
	}
	b.Settings.Scenario = Read
	if err := Compare(&out, a, b); err == nil {
		t.Error("reports of two scenarios are compared")
	}
}

func TestThePageNeedsNothingElseAndHoldsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	report := someReport(1)
	if err := report.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	if found := regexp.MustCompile(`(?i)<link|\ssrc=|@import|<script>alert`).FindString(html); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, want := range []string{"uPlot", `"deliveries":`, "</html>", HowToLift} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestRemarksTellOfLimitsAndErrors(t *testing.T) {
	t.Parallel()
	remarks := strings.Join(someReport(1).Remarks(), "\n")
	for _, want := range []string{"limited 1 operations", "--rate-limits off", "1 × BAD"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("the remarks lack %q:\n%s", want, remarks)
		}
	}
}

func TestAServerIsAskedForItsLimits(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                       "",
		`"reads";q=120000;w=60`:                  "reads to 120000 in 60 s",
		`"posts";q=60;w=60, "logins"; q=10; w=1`: "posts to 60 in 60 s, logins to 10 in 1 s",
		"nothing that is known":                  "",
	} {
		if got := describeLimits([]string{header}); got != want {
			t.Errorf("%q is read as %q, want %q", header, got, want)
		}
	}
}
