package clients

import (
	"sync"

	"retwis/internal/ratelimit"
)

// Limiter limits concurrent connections or subscriptions: for each user, and for each
// network. A negative limit means no limit.
type Limiter struct {
	perUser, perNetwork int

	mu   sync.Mutex
	open map[ratelimit.Key]*counted
}

// counted is what is open under a key.
type counted struct {
	n    int
	line sync.Mutex
}

// NewLimiter returns a limiter that has counted nothing.
func NewLimiter(perUser, perNetwork int) *Limiter {
	return &Limiter{perUser: perUser, perNetwork: perNetwork, open: map[ratelimit.Key]*counted{}}
}

// Acquire counts one more. It reports false, and counts nothing, at the limit.
func (l *Limiter) Acquire(key ratelimit.Key) bool {
	limit := l.perUser
	if key.User == 0 {
		limit = l.perNetwork
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open[key]
	if c == nil {
		c = &counted{}
	}
	if limit >= 0 && c.n >= limit {
		return false
	}
	c.n++
	l.open[key] = c
	return true
}

// Line returns the lock of those that are open under a key, for what they do one at a time. At least one has to be.
func (l *Limiter) Line(key ratelimit.Key) *sync.Mutex {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &l.open[key].line
}

// Release undoes Acquire.
func (l *Limiter) Release(key ratelimit.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.open[key]; c.n > 1 {
		c.n--
	} else {
		delete(l.open, key)
	}
}

// RetryAfter is the time in seconds after which a client above a limit should retry.
const RetryAfter = 30
