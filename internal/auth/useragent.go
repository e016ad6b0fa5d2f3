package auth

import (
	"context"

	"retwis/internal/retwis"
)

type userAgentKey struct{}

// WithUserAgent returns a context of what a client asks for that says what it is. A
// session that is opened there remembers it, cleaned.
func WithUserAgent(ctx context.Context, agent string) context.Context {
	return context.WithValue(ctx, userAgentKey{}, agent)
}

func userAgentOf(ctx context.Context) string {
	agent, _ := ctx.Value(userAgentKey{}).(string)
	return retwis.CleanUserAgent(agent)
}
