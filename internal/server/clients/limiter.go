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
	open map[ratelimit.Key]int
}

// NewLimiter returns a limiter that has counted nothing.
func NewLimiter(perUser, perNetwork int) *Limiter {
	return &Limiter{perUser: perUser, perNetwork: perNetwork, open: map[ratelimit.Key]int{}}
}

// Acquire counts one more. It reports false, and counts nothing, at the limit.
func (l *Limiter) Acquire(key ratelimit.Key) bool {
	limit := l.perUser
	if key.User == 0 {
		limit = l.perNetwork
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit >= 0 && l.open[key] >= limit {
		return false
	}
	l.open[key]++
	return true
}

// Release undoes Acquire.
func (l *Limiter) Release(key ratelimit.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[key]--; l.open[key] == 0 {
		delete(l.open, key)
	}
}

// RetryAfter is the time in seconds after which a client above a limit should retry.
const RetryAfter = 30
