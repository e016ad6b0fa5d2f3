package gctuner

import "testing"

func TestTune_UsesTheDefaultForLargeHeaps(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 24 << 20: 400, 48 << 20: 200, 96 << 20: 100, 4 << 30: 100} {
		if got := growth(live); got != want {
			t.Errorf("%d MiB may grow by %d %%, want %d", live>>20, got, want)
		}
	}
}
