package clients

import (
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// Limiter limits concurrent connections or subscriptions: for each user, and for all
// anonymous clients of a network together. A negative limit means no limit.
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

// TooManySubscriptions returns the response to a subscription beyond the limit.
func TooManySubscriptions(user retwis.UserID) *graphql.Response {
	if user == 0 {
		return operation.RateLimited(RetryAfter, "too many subscriptions without a login from your network: log in")
	}
	return operation.RateLimited(RetryAfter, "this user has too many subscriptions")
}
