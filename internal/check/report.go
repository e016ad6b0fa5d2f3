package check

import (
	"time"
)

// Report is what a check found.
type Report struct {
	Users     int           `json:"users"`
	Timelines int           `json:"timelines"` // of users
	Entries   int           `json:"entries"`   // of these timelines
	Counts    map[Kind]int  `json:"counts"`    // of findings
	Examples  []Finding     `json:"examples"`
	Repaired  int           `json:"repaired"`  // findings that a repair was made for
	Unsettled int           `json:"unsettled"` // that could not be told from what is under way
	Took      time.Duration `json:"-"`

	edges map[findingKey]bool // those reported, which are come by from both ends
}

// Findings returns how many there are.
func (r Report) Findings() int {
	total := 0
	for _, n := range r.Counts {
		total += n
	}
	return total
}

// PerMillion returns how many findings of a kind there are for each million entries.
func (r Report) PerMillion(kind Kind) float64 {
	return float64(r.Counts[kind]) * 1e6 / float64(max(r.Entries, 1))
}

// maxExamples is how many findings of a kind a report shows.
const maxExamples = 5

// maxEdges bounds what is remembered of edges: beyond, one may be counted twice.
const maxEdges = 100_000

func (r *Report) add(f Finding) {
	if f.Kind == OneWayEdge {
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
