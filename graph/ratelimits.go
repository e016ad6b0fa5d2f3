package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/limits"
)

// rateLimit resolves Query.rateLimit.
func (r *Resolver) rateLimit(ctx context.Context) *RateLimitPayload {
	budget, limited := r.Limits.Budget(ctx, limits.ClientOf(ctx))
	if !limited {
		return nil
	}
	return &RateLimitPayload{
		Cost:      limits.Cost(graphql.GetOperationContext(ctx)),
		Limit:     budget.Rate.Limit,
		Remaining: budget.Remaining,
		ResetAt:   time.Now().Add(budget.Reset).UTC(),
	}
}
