package load

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testReport(slower float64) *Report {
	r := newRecorder(time.Now().Add(-10*time.Second), true)
	for n := range 1000 {
		record(r.deliveries, time.Duration(slower*float64(n))*time.Microsecond)
		record(r.reached, time.Duration(slower*float64(n))*time.Microsecond)
	}
	r.operation("posts", time.Now().Add(-time.Duration(slower*float64(10*time.Millisecond))), nil)
	r.operation("posts", time.Now(), &failure{kind: "BAD", text: "BAD: </script><script>alert(1)</script>"})
	r.operation("posts", time.Now(), errLimited)
	r.tick(time.Now())
	report := &Report{Kind: Kind, Version: reportVersion, Settings: settingsOf(Options{Scenario: Live, Rate: 5, Clients: 10}, 3)}
	r.fill(report, time.Now())
	return report
}

func TestParse_ReadsWhatWriteJSONWrote(t *testing.T) {
	t.Parallel()
	report := testReport(1)
	var written bytes.Buffer
	if err := report.WriteJSON(&written); err != nil {
		t.Fatal(err)
	}
	read, err := Parse(written.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

func TestParse_RefusesOtherContent(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"no JSON":                           "read a report of a load test",
		`{"a": 1}`:                          `a report of kind "" and version 0 cannot be read`,
		`{"kind": "load", "version": 999}`:  `version 999 cannot be read`,
		`{"kind": "figures", "version": 2}`: `a report of kind "figures"`,
	} {
		if _, err := Parse([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Parse returns %v", content, err)
		}
	}
}

func TestCompare_PrintsRatios(t *testing.T) {
	t.Parallel()
	a, b := testReport(1), testReport(2)
	var out strings.Builder
	if err := Compare(&out, a, b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`deliveries, p50 +0\.50 ms +1\.00 ms +2\.00 ×`, `until the last, p90 +0\.90 ms +1\.80 ms +2\.00 ×`, `posts, errors +2 +2 +1\.00 ×`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the comparison lacks %s:\n%s", want, &out)
		}
	}
	b.Settings.Scenario = Read
	if err := Compare(&out, a, b); err == nil {
		t.Error("Compare accepts reports of two scenarios")
	}
}

func TestWriteHTML_IsSelfContainedAndEscapesData(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	report := testReport(1)
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

func TestRemarks_NameLimitsAndErrors(t *testing.T) {
	t.Parallel()
	remarks := strings.Join(testReport(1).Remarks(), "\n")
	for _, want := range []string{"limited 1 operations", "--rate-limits off", "1 × BAD"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("the remarks lack %q:\n%s", want, remarks)
		}
	}
}

func TestDescribeLimits_ReadsTheHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                       "",
		`"reads";q=120000;w=60`:                  "reads: 120000 in 60 s",
		`"posts";q=60;w=60, "logins"; q=10; w=1`: "posts: 60 in 60 s, logins: 10 in 1 s",
		"something else":                         "",
	} {
		if got := describeLimits([]string{header}); got != want {
			t.Errorf("%q is described as %q, want %q", header, got, want)
		}
	}
}
