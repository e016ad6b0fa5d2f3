package server

import (
	"sync"
	"time"
)

// clock is the one timer of all connections: that of an idle one would be more memory
// than its place in an index, and each would wake the process by itself.
type clock struct {
	every time.Duration
	tick  func(time.Time)

	mu    sync.Mutex
	timer *time.Timer // nil while there is nobody to ping
}

// tickOf returns how often connections are looked at: often enough that pings come about
// when they should.
func tickOf(o Options) time.Duration {
	return min(max(min(o.PingEvery, o.PongWait)/10, time.Millisecond), time.Second)
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer = time.AfterFunc(c.every, c.strike)
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

func (c *clock) strike() {
	c.tick(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Reset(c.every)
	}
}

// tick has the clients pinged that are due, and drops those that are gone.
func (r *sockets) tick(now time.Time) {
	var gone []client
	r.mu.Lock()
	for s := range r.open {
		if !s.tick(now) {
			gone = append(gone, s)
		}
	}
	r.mu.Unlock()
	for _, s := range gone {
		s.abort()
	}
}
