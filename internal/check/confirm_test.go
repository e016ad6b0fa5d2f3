package check

import (
	"testing"
)

func TestWhatIsSeenAgainIsSure(t *testing.T) {
	t.Parallel()
	one := Finding{Kind: Extra, Post: 1, witness: "3", transient: true}
	other := one
	other.witness = "4"
	count := Finding{Kind: Count, User: 1, witness: "2"}
	tests := []struct {
		name          string
		before, after []Finding
		settled, last bool
		sure, open    int
	}{
		{"gone", []Finding{one}, nil, true, false, 0, 0},
		{"new", nil, []Finding{one}, true, false, 0, 0},
		{"the same", []Finding{one}, []Finding{one}, true, false, 1, 0},
		{"perhaps another", []Finding{one}, []Finding{other}, true, false, 0, 1},
		{"again and again", []Finding{one}, []Finding{other}, true, true, 1, 0},
		{"not settled", []Finding{one}, []Finding{one}, false, true, 0, 1},
		{"what needs no settling", []Finding{count}, []Finding{count}, false, false, 1, 0},
		{"one of two", []Finding{count, count}, []Finding{count}, true, false, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sure, open := compareInspections(tt.before, tt.after, tt.settled, tt.last)
			if len(sure) != tt.sure || len(open) != tt.open {
				t.Errorf("sure of %v, open %v", sure, open)
			}
		})
	}
}
