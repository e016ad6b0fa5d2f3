package measure

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// threeRuns measures a rate that is 10, 30 and 20 beside baselines of 5, 20 and 5.
func threeRuns(t *testing.T, factor float64) *Report {
	t.Helper()
	n := 0
	m := Measurement{Name: "rates", Do: func(_ context.Context, r *Run) error {
		r.Add(Figure{
			Name: "deliveries", Unit: "/s", Value: factor * []float64{10, 30, 20}[n], Goal: AtLeast(15),
			Beside: []Baseline{
				{Name: "sorted sets", Value: []float64{5, 20, 5}[n], Goal: AtLeast(4)},
				{Name: "redis-benchmark", Unavailable: "not installed"},
			},
		})
		r.Add(Figure{Name: "memory", Unit: "bytes", Value: 12345})
		n++
		return nil
	}}
	report, err := Do(t.Context(), []Measurement{m}, Options{Runs: 3, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestDo_ReportsMediansAndRatiosOfEachRun(t *testing.T) {
	t.Parallel()
	report := threeRuns(t, 1)
	want := []Summary{
		{
			Measurement: "rates", Name: "deliveries", Unit: "/s", Values: []float64{10, 30, 20}, Median: 20, Goal: AtLeast(15),
			Baselines: []BaselineSummary{
				// The ratios are 2, 1.5 and 4. The ratio of the medians would be 4.
				{Name: "sorted sets", Values: []float64{5, 20, 5}, Median: 5, Ratio: 2, Goal: AtLeast(4)},
				{Name: "redis-benchmark", Unavailable: "not installed"},
			},
		},
		{Measurement: "rates", Name: "memory", Unit: "bytes", Values: []float64{12345, 12345, 12345}, Median: 12345},
	}
	if diff := cmp.Diff(want, report.Figures); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDo_NamesTheMeasurementThatFailed(t *testing.T) {
	t.Parallel()
	failing := Measurement{Name: "memory", Do: func(context.Context, *Run) error { return errors.New("out of it") }}
	_, err := Do(t.Context(), []Measurement{failing}, Options{Runs: 1, Log: io.Discard})
	if err == nil || err.Error() != "measure memory: out of it" {
		t.Errorf("Do returns %v", err)
	}
}

func TestReport_PrintsEachFigureBesideItsBaselines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := threeRuns(t, 1).Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^FIGURE +MEDIAN OF 3 +RANGE +BASELINE +ITS VALUE +RATIO +GOAL$`,
		`(?m)^deliveries +20 /s +10–30 +sorted sets +5 /s +2\.00 × +≥ 15 /s: met; ≥ 4\.00 ×: MISSED$`,
		`(?m)^ +redis-benchmark +not installed *$`,
		`(?m)^memory +12 345 bytes`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the table lacks %s:\n%s", want, &out)
		}
	}
}

func TestParse_ReadsWhatWriteJSONWrote(t *testing.T) {
	t.Parallel()
	report := threeRuns(t, 1)
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
	for _, other := range []string{"no JSON", `{"kind": "load", "version": 1}`, `{"kind": "figures", "version": 999}`} {
		if _, err := Parse([]byte(other)); err == nil {
			t.Errorf("Parse accepts %s", other)
		}
	}
}

func TestCompare_PrintsRatiosOfFiguresAndOfBaselineRatios(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Compare(&out, threeRuns(t, 1), threeRuns(t, 2)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^deliveries +20 /s +40 /s +2\.00 ×$`,
		`(?m)^  to sorted sets +2\.00 × +4\.00 × +2\.00 ×$`,
		`(?m)^memory +12 345 bytes +12 345 bytes +1\.00 ×$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the comparison lacks %s:\n%s", want, &out)
		}
	}
	if err := Compare(io.Discard, threeRuns(t, 1), &Report{}); err == nil {
		t.Error("Compare accepts reports without a common figure")
	}
}

func TestNumber_KeepsThreeDigits(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 0.123: "0.12", 1.5: "1.50", 12.34: "12.3", 123.4: "123", 1234567: "1 234 567", -1234: "-1 234"} {
		if got := number(value); got != want {
			t.Errorf("number(%v) is %q, want %q", value, got, want)
		}
	}
}
