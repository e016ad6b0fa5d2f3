package redistest_test

import (
	"fmt"
	"testing"

	"retwis/internal/redistest"
)

func TestOnEachRedis_RunsOnServerAndCluster(t *testing.T) {
	t.Parallel()
	var urls []string
	redistest.OnEachRedis(t, func(_ *testing.T, url string) { urls = append(urls, url) })
	if len(urls) != 2 || urls[0] == urls[1] {
		t.Errorf("tests ran on %q, want two databases", urls)
	}
}

func TestSize_DependsOnSoak(t *testing.T) {
	for env, want := range map[string]int{"": 3, "1": 50} {
		t.Setenv("RETWIS_SOAK", env)
		if got := redistest.Size(3, 50); got != want {
			t.Errorf("RETWIS_SOAK=%q: got %d, want %d", env, got, want)
		}
	}
}

func TestRand_RepeatsTheSeedOfTheEnvironment(t *testing.T) {
	t.Setenv("RETWIS_SEED", fmt.Sprint(uint64(1)<<63))
	if a, b := redistest.Rand(t).Uint64(), redistest.Rand(t).Uint64(); a != b {
		t.Errorf("got %d and %d from the same seed", a, b)
	}
}
