package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/limits"
	"retwis/graph/loaders"
)

// rateLimit resolves Query.rateLimit.
func (r *Resolver) rateLimit(ctx context.Context) (*RateLimitPayload, error) {
	client := limits.ClientOf(ctx)
	return loaders.Once(ctx, client, func() (*RateLimitPayload, error) {
		budget, limited := r.Limits.Budget(ctx, client)
		if !limited {
			return nil, nil
		}
		return &RateLimitPayload{
			Cost:      limits.Cost(graphql.GetOperationContext(ctx)),
			Limit:     budget.Rate.Limit,
			Remaining: budget.Remaining,
			ResetAt:   time.Now().Add(budget.Reset).UTC(),
		}, nil
	})
}
