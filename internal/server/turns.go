package server

import (
	"sync"
	"time"

	"retwis/internal/ratelimit"
)

// A request reaches a handler only after its header has been read, and until then nothing tells light clients from heavy ones: two
// hundred new connections at once occupied all cores for 20 milliseconds.
const (
	readAtOnce = 16                    // new connections of a network that are read without a delay
	readEvery  = time.Millisecond      // between the first reads of further ones
	readRarely = 40 * time.Millisecond // the same for a network without budget: each of its connections may take 3 milliseconds, to be refused
	readLarge  = 20 * time.Millisecond // between the parts of large headers
)

// turns spreads reads from the connections of a network over time: the first ones of new connections, or those of large headers. Its
// zero value is ready for use.
type turns struct {
	mu   sync.Mutex
	free map[ratelimit.Key]time.Time // when all connections of a network have had their turns
}

// next returns how long a connection of a network waits for its read. The next one is read the given time later.
func (t *turns) next(key ratelimit.Key, every time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.free == nil || !makeRoom(t.free, now) {
		t.free = map[ratelimit.Key]time.Time{}
	}
	ahead := max(t.free[key].Sub(now), 0)
	t.free[key] = now.Add(ahead + every)
	return max(ahead-(readAtOnce-1)*readEvery, 0)
}
