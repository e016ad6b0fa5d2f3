package clients

import (
	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/ratelimit"
	"retwis/internal/server/operation"
)

// Subscriptions limits the open subscriptions of each user, and of all clients of a network together, those of its users
// included: a few users of one network could otherwise open subscriptions until no memory is left.
type Subscriptions struct{ open *Limiter }

// NewSubscriptions returns limits that have counted nothing. A negative number means no limit.
func NewSubscriptions(perUser, perNetwork int) *Subscriptions {
	return &Subscriptions{open: NewLimiter(perUser, perNetwork)}
}

// Acquire counts a subscription of the client. At a limit it counts nothing, and returns the response that names the limit.
func (s *Subscriptions) Acquire(client ratelimit.Client) *graphql.Response {
	network := client.NetworkKey()
	if !s.open.Acquire(network) {
		return operation.RateLimited(RetryAfter, "your network has too many subscriptions")
	}
	if client.User != 0 && !s.open.Acquire(client.Key()) {
		s.open.Release(network)
		return operation.RateLimited(RetryAfter, "this user has too many subscriptions")
	}
	return nil
}

// Release undoes Acquire.
func (s *Subscriptions) Release(client ratelimit.Client) {
	s.open.Release(client.NetworkKey())
	if client.User != 0 {
		s.open.Release(client.Key())
	}
}
