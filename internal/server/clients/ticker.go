package clients

import (
	"sync"
	"time"
)

// ticker is the one timer of all connections. A timer for each would take more memory than
// the registry entry of an idle connection, and would wake the process by itself.
type ticker struct {
	every time.Duration
	tick  func(time.Time)

	mu    sync.Mutex
	timer *time.Timer // nil while there are no connections
}

// tickInterval returns how often connections are visited, so that pings are sent in time.
func tickInterval(pingEvery, pongWait time.Duration) time.Duration {
	return min(max(min(pingEvery, pongWait)/10, time.Millisecond), time.Second)
}

func (t *ticker) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		t.timer = time.AfterFunc(t.every, t.fire)
	}
}

func (t *ticker) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

func (t *ticker) fire() {
	t.tick(time.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Reset(t.every)
	}
}
