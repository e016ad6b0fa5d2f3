package retwis

import (
	"strings"
	"testing"
)

// Attack: each ideograph is a word, so a filter tracked 1200 words. A post that contained all but the last one of each entry took 13
// microseconds for each subscription, for a fifth of a point, and each subscription kept 35 KB.
func TestFilter_BoundsTheTrackedWords(t *testing.T) {
	t.Parallel()
	var entry strings.Builder
	for i := range MaxTrackLength {
		entry.WriteRune('一' + rune(i))
	}
	heavy := []string{entry.String()}
	if _, err := NewFilter(TimelineFilter{Track: heavy}); err != nil {
		t.Errorf("a filter with %d words: %v", MaxTrackLength, err)
	}
	for len(heavy)*MaxTrackLength <= MaxTrackedWords {
		heavy = append(heavy, entry.String())
	}
	if _, err := NewFilter(TimelineFilter{Track: heavy}); err == nil {
		t.Errorf("a filter with %d words is accepted", len(heavy)*MaxTrackLength)
	}
}
