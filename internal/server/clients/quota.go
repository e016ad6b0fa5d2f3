package clients

import (
	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/ratelimit"
	"retwis/internal/server/operation"
)

// Quota limits what each user, and all clients of a network together, may have at a time, those of its users included: a few users of one network could
// otherwise have so much that no memory is left.
type Quota struct {
	open *Limiter
	what string
}

// NewQuota returns a quota of which nothing is used. A negative number means no limit. what names in the plural what is counted.
func NewQuota(what string, perUser, perNetwork int) *Quota {
	return &Quota{open: NewLimiter(perUser, perNetwork), what: what}
}

// Acquire counts one more of the client. At a limit it counts nothing, and returns the response that names the limit.
func (q *Quota) Acquire(client ratelimit.Client) *graphql.Response {
	network := client.NetworkKey()
	if !q.open.Acquire(network) {
		return operation.RateLimited(RetryAfter, "your network has too many %s", q.what)
	}
	if client.User != 0 && !q.open.Acquire(client.Key()) {
		q.open.Release(network)
		return operation.RateLimited(RetryAfter, "this user has too many %s", q.what)
	}
	return nil
}

// Release undoes Acquire.
func (q *Quota) Release(client ratelimit.Client) {
	q.open.Release(client.NetworkKey())
	if client.User != 0 {
		q.open.Release(client.Key())
	}
}
