package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// RateLimits count what clients do, and refuse what is too much with RATE_LIMITED.
type RateLimits interface {
	// Check refuses a client that has nothing left to read with.
	Check(client retwis.Client) error
	// Take counts an operation before it is run, or refuses all of it.
	Take(ctx context.Context, client retwis.Client, demand retwis.Demand) error
	// Spend counts a request that was found wrong after some work.
	Spend(client retwis.Client, cost int)
	// NotRegistered gives back a registration that made no account.
	NotRegistered(ctx context.Context, client retwis.Client)
	// LoggedIn notes that a client has logged in with a name.
	LoggedIn(ctx context.Context, client retwis.Client, name string)
	// Allowance tells how much is left to read; false where there is no limit.
	Allowance(ctx context.Context, client retwis.Client) (retwis.Allowance, bool)
}

// wrongCost is what a request costs that is refused: parsing and validating it took
// longer than many a good one takes.
const wrongCost = 250

// errRateLimited stands for all failures of that code.
var errRateLimited = &retwis.Error{Code: retwis.CodeRateLimited}

// costKey is where the cost of an operation is among its statistics.
const costKey = "cost"

func clientOf(ctx context.Context) retwis.Client {
	return retwis.Client{User: auth.IdentityOf(ctx).User, Address: auth.AddressOf(ctx)}
}

// rateLimits counts operations that are about to be run. Those that do too much of
// something are refused whole, before any of it is done.
type rateLimits struct{ RateLimits }

func (rateLimits) ExtensionName() string                   { return "RateLimits" }
func (rateLimits) Validate(graphql.ExecutableSchema) error { return nil }

func (l rateLimits) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	if op.Operation.Operation == ast.Mutation && retwis.QueriesOnly(ctx) {
		return nil // a link to it must not use up what its reader may do
	}
	if err := l.Take(ctx, clientOf(ctx), demandOf(op)); err != nil {
		return gqlerror.Wrap(err)
	}
	return nil
}

// demandOf says what an operation is about to do. Mutations that are counted by
// themselves are no part of its cost.
func demandOf(op *graphql.OperationContext) retwis.Demand {
	demand := retwis.Demand{Cost: costOf(op)}
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

func costOf(op *graphql.OperationContext) int {
	cost, _ := op.Stats.GetExtension(costKey).(int)
	return cost
}

func usernameIn(login *ast.Field, variables map[string]any) string {
	input, _ := login.ArgumentMap(variables)["input"].(map[string]any)
	name, _ := input["username"].(string)
	return name
}

// rateLimit answers the field of that name.
func (r *Resolver) rateLimit(ctx context.Context) *RateLimitPayload {
	left, limited := r.Limits.Allowance(ctx, clientOf(ctx))
	if !limited {
		return nil
	}
	return &RateLimitPayload{
		Cost:      costOf(graphql.GetOperationContext(ctx)),
		Limit:     left.Rate.Limit,
		Remaining: left.Left,
		ResetAt:   time.Now().Add(left.Full).UTC(),
	}
}
