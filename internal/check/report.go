package check

import (
	"time"
)

// Report is the result of a check.
type Report struct {
	Users     int           `json:"users"`
	Timelines int           `json:"timelines"` // inspected timelines of users
	Entries   int           `json:"entries"`   // entries of these timelines
	Counts    map[Kind]int  `json:"counts"`    // findings by kind
	Examples  []Finding     `json:"examples"`
	Repaired  int           `json:"repaired"`  // repaired findings
	Unsettled int           `json:"unsettled"` // differences that undelivered entries may explain
	Took      time.Duration `json:"-"`

	edges map[findingKey]bool // reported edges: the check encounters each edge at both ends
}

// Findings returns the number of findings.
func (r Report) Findings() int {
	total := 0
	for _, n := range r.Counts {
		total += n
	}
	return total
}

// PerMillion returns the number of findings of a kind per million entries.
func (r Report) PerMillion(kind Kind) float64 {
	return float64(r.Counts[kind]) * 1e6 / float64(max(r.Entries, 1))
}

// maxExamples is the maximum number of examples of a kind in a report.
const maxExamples = 5

// maxEdges bounds the remembered edges. Beyond it, an edge may be counted twice.
const maxEdges = 100_000

func (r *Report) add(f Finding) {
	if f.Kind == OneWayEdge || f.Kind == OneWayLike {
		if r.edges[f.key()] {
			return
		}
		if len(r.edges) < maxEdges {
			r.edges[f.key()] = true
		}
	}
	r.Counts[f.Kind]++
	if r.Counts[f.Kind] <= maxExamples {
		r.Examples = append(r.Examples, f)
	}
}
