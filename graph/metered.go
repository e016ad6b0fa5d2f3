package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/limits"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// DispatchOperation executes a query or a mutation. It counts the work, charges what exceeds the price, and gives back
// the part of the price that was not used. If the budget is used up, a query stops with RATE_LIMITED, and its response has no
// data.
func (e *Executor) DispatchOperation(
	ctx context.Context, op *graphql.OperationContext,
) (graphql.ResponseHandler, context.Context) {
	client := limits.ClientOf(ctx)
	meter := cost.NewMeter(e.meterOptions(client, op, limits.Price(op)))
	responses, ctx := e.Executor.DispatchOperation(cost.With(ctx, meter), op)
	started := false
	return func(ctx context.Context) *graphql.Response {
		if started {
			return responses(ctx)
		}
		started = true
		release, err := e.retained.operation(client, op)
		if err != nil {
			meter.Close()
			return &graphql.Response{Errors: gqlerror.List{e.present(ctx, err)}}
		}
		defer release()
		run := e.shares.RunQuery
		if op.Operation.Operation == ast.Mutation {
			run = e.shares.RunMutation
		}
		done, err := run(ctx, client, limits.Cost(op))
		if err != nil {
			return nil // ctx is done
		}
		defer done()
		defer meter.Close()
		if err := meter.CheckBudget(); err != nil {
			return &graphql.Response{Errors: gqlerror.List{e.present(ctx, err)}}
		}
		defer meter.TakeTurn(ctx)()
		response := responses(ctx)
		if response == nil {
			return nil
		}
		return e.account(ctx, op, meter, response)
	}, ctx
}

// meterOptions returns the options of the meter of an operation of a client, or of one of its events.
func (e *Executor) meterOptions(client ratelimit.Client, op *graphql.OperationContext, price cost.Price) cost.Options {
	total := price.Charged
	options := cost.Options{
		Client: client,
		Price:  price,
		Shares: e.shares,
		Charge: func(points int) error {
			total += points
			return e.limiter.Charge(client, points, total)
		},
		Refund: func(points int) { e.limiter.Refund(client, points) },
		Check:  func() error { return e.limiter.CheckDebt(client) },
	}
	if op.Operation.Operation == ast.Mutation {
		// It is charged in full before it starts; after it has changed something, its response is due.
		options.Bound = cost.OfMutation()
	}
	return options
}

// account replaces the response of an operation that had to stop, and adds the final cost if the client asks for it.
func (e *Executor) account(
	ctx context.Context, op *graphql.OperationContext, meter *cost.Meter, response *graphql.Response,
) *graphql.Response {
	reason := meter.Written(len(response.Data))
	final := meter.Close()
	if reason != nil {
		stopped := &graphql.Response{Errors: gqlerror.List{e.present(ctx, reason)}, Extensions: response.Extensions}
		if errors.Is(reason, cost.ErrResponseTooLarge) {
			stopped.Data = []byte("null")
		}
		response = stopped
	}
	if wanted, _ := op.Extensions[costExtension].(bool); wanted {
		if response.Extensions == nil {
			response.Extensions = map[string]any{}
		}
		document, _ := op.Stats.GetExtension(documentCostKey).(int)
		price := limits.Price(op).Charged
		response.Extensions[costExtension] = finalCost{
			Total:    document + price + final.Beyond - final.Refunded,
			Document: document, Price: price, Beyond: final.Beyond, Refunded: final.Refunded,
			Work: workDone{
				final.Work.Commands, final.Work.Scripts, final.Work.RoundTrips, final.Work.Rows, final.Work.Resolvers, final.Work.Bytes,
			},
		}
	}
	return response
}

// costExtension is the extension of a request by which a client asks for the final cost, and that of the response.
const costExtension = "cost"

// finalCost is the cost of an operation by part, in points.
type finalCost struct {
	Total    int      `json:"total"`
	Document int      `json:"document"` // reading, parsing and validating it; 0 if it was known
	Price    int      `json:"price"`    // of the execution, charged before it
	Beyond   int      `json:"beyond"`   // work that exceeded the price
	Refunded int      `json:"refunded"` // the part of the price that the work did not use
	Work     workDone `json:"work"`
}

// workDone is what the execution has done.
type workDone struct {
	Commands   int `json:"commands"`
	Scripts    int `json:"scripts"`
	RoundTrips int `json:"roundTrips"`
	Rows       int `json:"rows"`
	Resolvers  int `json:"resolvers"`
	Bytes      int `json:"bytes"`
}

// countResolver counts a resolver that may wait. It fails if the operation has to stop.
func countResolver(ctx context.Context, next graphql.Resolver) (any, error) {
	if graphql.GetFieldContext(ctx).IsResolver {
		if err := cost.Of(ctx).Add(cost.Work{Resolvers: 1}); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}
