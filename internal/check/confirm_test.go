package check

import (
	"testing"
)

func TestCompareInspections_PersistentFindingsAreCertain(t *testing.T) {
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
		{"finding disappeared", []Finding{one}, nil, true, false, 0, 0},
		{"new finding is ignored", nil, []Finding{one}, true, false, 0, 0},
		{"same finding is certain", []Finding{one}, []Finding{one}, true, false, 1, 0},
		{"finding with another witness stays open", []Finding{one}, []Finding{other}, true, false, 0, 1},
		{"finding with another witness is certain at the last inspection", []Finding{one}, []Finding{other}, true, true, 1, 0},
		{"finding before the outboxes settled stays open", []Finding{one}, []Finding{one}, false, true, 0, 1},
		{"finding that entries cannot explain is certain", []Finding{count}, []Finding{count}, false, false, 1, 0},
		{"one of two equal findings persists", []Finding{count, count}, []Finding{count}, true, false, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sure, open := compareInspections(tt.before, tt.after, tt.settled, tt.last)
			if len(sure) != tt.sure || len(open) != tt.open {
				t.Errorf("certain %v, open %v, want %d and %d", sure, open, tt.sure, tt.open)
			}
		})
	}
}
