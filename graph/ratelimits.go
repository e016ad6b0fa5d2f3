package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/limits"
	"retwis/internal/ratelimit"
)

// RateLimits count what clients do, and refuse what exceeds a limit with the code RATE_LIMITED.
type RateLimits interface {
	limits.Limiter
	// NotRegistered returns the cost of a registration that created no account.
	NotRegistered(ctx context.Context, client ratelimit.Client)
	// LoggedIn records that a client has logged in with a username.
	LoggedIn(ctx context.Context, client ratelimit.Client, name string)
	// Allowance returns the remaining read budget of a client, and false if reads are not limited.
	Budget(ctx context.Context, client ratelimit.Client) (ratelimit.Budget, bool)
}

// rateLimit resolves Query.rateLimit.
func (r *Resolver) rateLimit(ctx context.Context) *RateLimitPayload {
	left, limited := r.Limits.Budget(ctx, limits.ClientOf(ctx))
	if !limited {
		return nil
	}
	return &RateLimitPayload{
		Cost:      limits.Cost(graphql.GetOperationContext(ctx)),
		Limit:     left.Rate.Limit,
		Remaining: left.Remaining,
		ResetAt:   time.Now().Add(left.Reset).UTC(),
	}
}
