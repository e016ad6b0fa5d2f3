package redistest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// OnEachRedis runs a test as two subtests: on a server of its own, and on the cluster that
// [SharedCluster] returns.
func OnEachRedis(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("server", func(t *testing.T) { test(t, Server(t).URL()) })
	t.Run("cluster", func(t *testing.T) { test(t, SharedCluster(t).URL()) })
}

// Soak reports whether tests run at full size, as the environment variable RETWIS_SOAK asks.
func Soak() bool { return os.Getenv("RETWIS_SOAK") != "" }

// Size returns how much a test does: full if [Soak] is true, usual otherwise.
func Size(usual, full int) int {
	if Soak() {
		return full
	}
	return usual
}

// Rand returns a random number generator for a test and logs its seed. To repeat a run, set
// the environment variable RETWIS_SEED to that seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("RETWIS_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("RETWIS_SEED=%s is not a number: %v", text, err)
		}
	}
	t.Logf("RETWIS_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
