package limits

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
)

// Limiter counts the operations of clients and refuses those that exceed a rate limit, with the code RATE_LIMITED.
type Limiter interface {
	// Check refuses a client whose budget is used up.
	Check(client ratelimit.Client) error
	// Affords reports whether a client has more than a small part of its budget.
	Affords(client ratelimit.Client) bool
	// CheckDebt refuses a client whose operations have used more than its budget.
	CheckDebt(client ratelimit.Client) error
	// CheckHalf refuses a client that has less than half of its budget left.
	CheckHalf(client ratelimit.Client) error
	// Delay returns how long a client without budget waits for its next refusal.
	Delay(client ratelimit.Client) time.Duration
	// Take counts an operation before it runs, or refuses it as a whole. In both cases it returns how much the client may
	// still read; the zero budget if reads have no limit.
	Take(ctx context.Context, client ratelimit.Client, cost ratelimit.Cost) (ratelimit.Budget, error)
	// Charge counts work that an operation did beyond its cost, and fails if the budget is used up. total is what the operation has
	// cost so far: the error says when twice as much is available.
	Charge(client ratelimit.Client, cost, total int) error
	// Refund gives back what an operation was counted for and did not use.
	Refund(client ratelimit.Client, cost int)
	// Spend counts a request that was refused after some work, or that executes nothing.
	Spend(client ratelimit.Client, cost int)
}

// ClientOf returns the client that a request comes from.
func ClientOf(ctx context.Context) ratelimit.Client {
	return ratelimit.Client{User: auth.IdentityOf(ctx).User, Address: auth.RequestOf(ctx).Address}
}

// CountedCost returns the cost of an operation for each rate limit. [OperationCost] must have computed its cost. Mutations that have a
// limit of their own count as reads, too, for the work that they cause.
func CountedCost(op *graphql.OperationContext) ratelimit.Cost {
	cost := ratelimit.Cost{Reads: Cost(op)}
	if op.Operation.Operation != ast.Mutation {
		return cost
	}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
		switch field.Name {
		case "register":
			cost.Registrations++
		case "login":
			cost.Logins = append(cost.Logins, usernameIn(field.Field, op.Variables))
		case "changePassword", "deleteAccount":
			cost.Passwords++
		case "createPost", "repostPost":
			cost.Posts++
		case "likePost", "unlikePost":
			cost.Likes++
		case "followUser", "unfollowUser", "addListMember", "removeListMember":
			cost.Follows++
		}
	}
	return cost
}

func usernameIn(login *ast.Field, variables map[string]any) string {
	input, _ := login.ArgumentMap(variables)["input"].(map[string]any)
	name, _ := input["username"].(string)
	return name
}
