package limits

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
)

// RefusedCost is the cost of a request that is refused. Parsing and validating it may have taken longer than many valid
// operations do.
const RefusedCost = 250

// Limiter counts the operations of clients and refuses those that exceed a rate limit, with the code RATE_LIMITED.
type Limiter interface {
	// Check refuses a client whose budget is used up.
	Check(client ratelimit.Client) error
	// Take counts an operation before it runs, or refuses it as a whole.
	Take(ctx context.Context, client ratelimit.Client, cost ratelimit.Cost) error
	// Spend counts a request that was refused after some work.
	Spend(client ratelimit.Client, cost int)
}

// ClientOf returns the client that a request comes from.
func ClientOf(ctx context.Context) ratelimit.Client {
	return ratelimit.Client{User: auth.IdentityOf(ctx).User, Address: auth.RequestOf(ctx).Address}
}

// RateLimit is a gqlgen extension that counts operations before they run. An operation that exceeds a limit is refused
// as a whole.
type RateLimit struct{ Limiter Limiter }

// ExtensionName implements [graphql.HandlerExtension].
func (RateLimit) ExtensionName() string { return "RateLimit" }

// Validate implements [graphql.HandlerExtension].
func (RateLimit) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator].
func (l RateLimit) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	if op.Operation.Operation == ast.Mutation && ratelimit.QueriesOnly(ctx) {
		return nil // following a link to a mutation, which is refused, must not use up the budget of its reader
	}
	if err := l.Limiter.Take(ctx, ClientOf(ctx), countedCost(op)); err != nil {
		return gqlerror.Wrap(err)
	}
	return nil
}

// countedCost returns what an operation is about to do. The cost does not include mutations that have a limit of their own.
func countedCost(op *graphql.OperationContext) ratelimit.Cost {
	cost := ratelimit.Cost{Reads: Cost(op)}
	if op.Operation.Operation != ast.Mutation {
		return cost
	}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
		cost.Reads -= mutationCost
		switch field.Name {
		case "register":
			cost.Registrations++
		case "login":
			cost.Logins = append(cost.Logins, usernameIn(field.Field, op.Variables))
		case "changePassword", "deleteAccount":
			cost.Passwords++
		case "createPost":
			cost.Posts++
		case "followUser", "unfollowUser", "addListMember", "removeListMember":
			cost.Follows++
		default:
			cost.Reads += mutationCost
		}
	}
	cost.Reads = max(cost.Reads, 1)
	return cost
}

func usernameIn(login *ast.Field, variables map[string]any) string {
	input, _ := login.ArgumentMap(variables)["input"].(map[string]any)
	name, _ := input["username"].(string)
	return name
}
