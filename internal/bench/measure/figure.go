package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Figure is a measured value.
type Figure struct {
	Name   string
	Unit   string
	Value  float64
	Goal   Goal // for the value
	Beside []Baseline
}

// Baseline is the value that something else reaches at the same task.
type Baseline struct {
	Name        string
	Value       float64
	Unavailable string // why there is no value
	Earlier     bool   // the value is from an earlier measurement, so the ratio is rough
	Goal        Goal   // for the ratio of the figure to the value
}

// Goal is a bound that a value should keep. The zero value is no goal.
type Goal struct {
	Min float64 `json:"min,omitempty"`
	Max float64 `json:"max,omitempty"`
}

// AtLeast returns the goal of a value of n or more.
func AtLeast(n float64) Goal { return Goal{Min: n} }

// AtMost returns the goal of a value of n or less.
func AtMost(n float64) Goal { return Goal{Max: n} }

// describe says what the goal is and whether a value meets it.
func (g Goal) describe(value float64, unit string) string {
	if g == (Goal{}) {
		return ""
	}
	text, met := "≥ "+quantity(g.Min, unit), value >= g.Min
	if g.Max != 0 {
		text, met = "≤ "+quantity(g.Max, unit), value <= g.Max
	}
	if met {
		return text + ": met"
	}
	return text + ": MISSED"
}

// Median returns the middle value, or the mean of the two in the middle, and 0 without values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// quantity prints a value with its unit.
func quantity(value float64, unit string) string {
	switch unit {
	case "":
		return number(value)
	case ratioUnit:
		return fmt.Sprintf("%.2f ×", value)
	default:
		return number(value) + " " + unit
	}
}

const ratioUnit = "×"

// number prints three significant digits of a small value, and a large one without a fraction
// and in groups of three digits.
func number(value float64) string {
	switch size := math.Abs(value); {
	case value == math.Trunc(value) || size >= 100:
		return grouped(value)
	case size >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
}

func grouped(value float64) string {
	digits := strconv.FormatFloat(math.Abs(value), 'f', 0, 64)
	var out []byte
	if value < 0 {
		out = append(out, '-')
	}
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ' ')
		}
		out = append(out, digits[i])
	}
	return string(out)
}
