package limits

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// RefusedCost is the cost of a request that is refused. Parsing and validating it may have taken longer than many valid
// operations do.
const RefusedCost = 250

// Limiter counts the operations of clients and refuses those that exceed a rate limit, with the code RATE_LIMITED.
type Limiter interface {
	// Check refuses a client whose budget is used up.
	Check(client retwis.Client) error
	// Take counts an operation before it runs, or refuses it as a whole.
	Take(ctx context.Context, client retwis.Client, demand retwis.Demand) error
	// Spend counts a request that was refused after some work.
	Spend(client retwis.Client, cost int)
}

// ClientOf returns the client that a request comes from.
func ClientOf(ctx context.Context) retwis.Client {
	return retwis.Client{User: auth.IdentityOf(ctx).User, Address: auth.AddressOf(ctx)}
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
	if op.Operation.Operation == ast.Mutation && retwis.QueriesOnly(ctx) {
		return nil // following a link to a mutation, which is refused, must not use up the budget of its reader
	}
	if err := l.Limiter.Take(ctx, ClientOf(ctx), demandOf(op)); err != nil {
		return gqlerror.Wrap(err)
	}
	return nil
}

// demandOf returns what an operation is about to do. The cost does not include mutations that have a limit of their own.
func demandOf(op *graphql.OperationContext) retwis.Demand {
	demand := retwis.Demand{Cost: Cost(op)}
	if op.Operation.Operation != ast.Mutation {
		return demand
	}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
		demand.Cost -= mutationCost
		switch field.Name {
		case "register":
			demand.Registrations++
		case "login":
			demand.Logins = append(demand.Logins, usernameIn(field.Field, op.Variables))
		case "changePassword", "deleteAccount":
			demand.Passwords++
		case "createPost":
			demand.Posts++
		case "followUser", "unfollowUser", "addListMember", "removeListMember":
			demand.Follows++
		default:
			demand.Cost += mutationCost
		}
	}
	demand.Cost = max(demand.Cost, 1)
	return demand
}

func usernameIn(login *ast.Field, variables map[string]any) string {
	input, _ := login.ArgumentMap(variables)["input"].(map[string]any)
	name, _ := input["username"].(string)
	return name
}
