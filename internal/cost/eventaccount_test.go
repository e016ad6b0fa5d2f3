package cost

import "testing"

func TestEventAccount_CountsNoSmallChanges(t *testing.T) {
	t.Parallel()
	const few = uncountedEvents * EventBytes
	s, client := NewShares(), userOf(1, 1)
	var a EventAccount
	for _, step := range []struct {
		bytes, used int
		refused     bool
	}{
		{few, 0, false},
		{few + 1, few + 1, false},
		{2 * few, few + 1, false},
		{eventsOfHolder + 1, few + 1, true},
		{eventsOfHolder, eventsOfHolder, false},
		{eventsOfHolder - few, eventsOfHolder, false},
		{eventsOfHolder - few - 1, eventsOfHolder - few - 1, false},
		{1, 1, false},
		{0, 0, false},
	} {
		if !a.Grow(s.Events, client, step.bytes) != step.refused {
			t.Errorf("%d bytes were refused: %t", step.bytes, !step.refused)
		}
		if !step.refused {
			a.Shrink(step.bytes)
		}
		if used := s.Events.networks.UsedBy(NetworkOf(client)); used != step.used || s.Events.Used() != used {
			t.Errorf("%d bytes count as %d, want %d", step.bytes, used, step.used)
		}
	}
}
