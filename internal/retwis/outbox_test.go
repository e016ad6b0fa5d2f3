package retwis_test

import (
	"testing"

	"retwis/internal/retwis"
)

func TestEntriesComeInTheOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	inOrder := []string{"0", "0-1", "999-7", "1767225600000-0", "1767225600000-9", "1767225600000-10", "1767225600001-0"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got, want := retwis.EarlierEntry(a, b), i < j; got != want {
				t.Errorf("%s before %s: %t, want %t", a, b, got, want)
			}
		}
	}
	if got, want := retwis.NextEntry("1767225600000-9"), "1767225600000-10"; got != want {
		t.Errorf("after 1767225600000-9 comes %s, want %s", got, want)
	}
}
