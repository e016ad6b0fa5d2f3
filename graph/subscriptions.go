package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/exec"
	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// errDispatched is the error of a subscription that is dispatched like a query. gqlgen would need a channel, and a goroutine
// that waits for it, for each subscriber.
var errDispatched = errors.New("subscriptions run by Subscribe and Render, not by DispatchOperation")

// planKey names the plan of a subscription among the statistics of its operation.
const planKey = "plan"

// Subscribe authorises a subscription for the viewer of ctx. It returns the source of its events, or errors for the client.
// Call it once for an operation, before [Executor.Render]. It charges the client for the work of starting the subscription beyond its
// price.
func (e *Executor) Subscribe(ctx context.Context, op *graphql.OperationContext) (source retwis.EventSource, errs gqlerror.List) {
	ctx = e.withResponse(graphql.WithOperationContext(ctx, op))
	client := limits.ClientOf(ctx)
	release, err := e.retained.operation(client, op)
	if err != nil {
		return nil, gqlerror.List{e.present(ctx, err)}
	}
	price := limits.Price(op)
	meter := e.startMeter(client, op, price)
	end := func() {
		meter.Close()
		release()
	}
	defer func() {
		if source == nil {
			end()
		}
	}()
	done, err := e.shares.Run(ctx, client, price.Charged)
	if err != nil {
		return nil, gqlerror.List{e.present(ctx, err)}
	}
	defer done()
	if err := meter.CheckBudget(); err != nil {
		return nil, gqlerror.List{e.present(ctx, err)}
	}
	endTurn := meter.TakeTurn(ctx)
	ctx = cost.With(ctx, meter)
	if plan := e.planOf(ctx, op); plan != nil {
		op.Stats.SetExtension(planKey, plan)
	}
	events := e.subscribe(ctx, op)
	endTurn()
	if errs := graphql.GetErrors(ctx); len(errs) > 0 {
		return nil, errs
	}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) (err error) {
		defer end()
		defer func() { // no resolver, which would recover, runs here
			if r := recover(); r != nil {
				err = recoverPanic(ctx, r)
			}
		}()
		if err := context.Cause(ctx); err != nil {
			return err
		}
		done, err := e.shares.Run(ctx, client, price.Charged)
		if err != nil {
			return err //nolint:wrapcheck // ctx is done
		}
		defer done()
		defer meter.TakeTurn(ctx)()
		return events(cost.With(ctx, meter), after, sink)
	}, nil
}

// startMeter returns a meter of the work of starting a subscription. That work is bounded, and other clients may use a part of it, so the
// meter charges it without stopping the start, unless it could not be counted any more. The meter also charges the reads for the events
// that the source replays; executing these events has a price of its own.
func (e *Executor) startMeter(client ratelimit.Client, op *graphql.OperationContext, price cost.Price) *cost.Meter {
	price.Fixed += cost.PerStart
	options := e.meterOptions(client, op, price)
	options.Charge = func(points int) error {
		if err := e.limiter.Charge(client, points, points); errors.Is(err, ratelimit.ErrMaxDebt) {
			return err
		}
		return nil
	}
	options.Refund = nil
	return cost.NewMeter(options)
}

// subscribe returns the source of events, or nil after adding an error to the response of ctx.
func (e *Executor) subscribe(ctx context.Context, op *graphql.OperationContext) (source retwis.EventSource) {
	field := subscribedField(op)
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription"})
	defer func() {
		if r := recover(); r != nil {
			op.Error(ctx, op.Recover(ctx, r))
			source = nil
		}
	}()
	subscribe := e.eventSources[field.Name]
	if subscribe == nil {
		op.Error(ctx, fmt.Errorf("the subscription %s has no source of events", field.Name))
		return nil
	}
	fc, err := e.exec.PrepareRoot(ctx, op, field)
	if err != nil {
		return nil // the error was reported with the argument
	}
	ctx = graphql.WithFieldContext(ctx, fc)
	_, err = op.ResolverMiddleware(ctx, func(ctx context.Context) (any, error) {
		var err error
		source, err = subscribe(ctx, fc.Args)
		return source, err
	})
	if err != nil {
		op.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
		return nil
	}
	return source
}

// RenderFor is [Executor.Render] for the client that pays, within the shares of a holder: this client, or one that stands for all clients
// that get the event. It fails with RATE_LIMITED if the client has no budget left. An event for others does not stop for lack of budget
// once it has begun, and adds to the debt of the one that pays.
func (e *Executor) RenderFor(
	ctx context.Context, op *graphql.OperationContext, event retwis.Event, payer, holder ratelimit.Client,
) (*graphql.Response, error) {
	price := limits.Price(op)
	run := e.shares.Run
	options := e.meterOptions(payer, op, price)
	if holder != payer {
		run = e.shares.RunQuery // a large event does not delay small ones of other clients
		options.Client, options.Bound = holder, cost.OfSharedEvent()
	}
	done, err := run(ctx, holder, price.Charged)
	if err != nil {
		return nil, err
	}
	defer done()
	// Those before it may have used up the budget.
	if err := e.limiter.Check(payer); err != nil {
		return nil, err
	}
	_ = e.limiter.Charge(payer, price.Charged, price.Charged) // the last event may use up the budget
	return e.renderMetered(ctx, op, event, options)
}

// renderMetered renders an event. It fails if the options stop it.
func (e *Executor) renderMetered(
	ctx context.Context, op *graphql.OperationContext, event retwis.Event, options cost.Options,
) (*graphql.Response, error) {
	meter := cost.NewMeter(options)
	defer meter.Close()
	defer meter.TakeTurn(ctx)()
	response := e.execute(cost.With(ctx, meter), op, event)
	switch err := meter.Err(); {
	case err == nil:
		return response, nil
	case errors.Is(err, cost.ErrResponseTooLarge): // or another error with its code
		return &graphql.Response{Data: []byte("null"), Errors: gqlerror.List{e.present(ctx, err)}}, nil
	default:
		return nil, err
	}
}

// Render executes a subscription for one event, as the viewer of ctx. It does not check whether the viewer may see the
// event: [Executor.Subscribe] authorises, and the source decides which subscribers an event reaches. It returns nil if ctx is
// done.
//
// One operation may be rendered for any number of events and viewers. Nobody is charged.
func (e *Executor) Render(ctx context.Context, op *graphql.OperationContext, event retwis.Event) *graphql.Response {
	options := cost.Options{Client: cost.ForSeveral(), Price: limits.Price(op), Shares: e.shares, Bound: cost.OfSharedEvent()}
	done, err := e.shares.RunQuery(ctx, options.Client, options.Price.Charged)
	if err != nil {
		return nil
	}
	defer done()
	response, err := e.renderMetered(ctx, op, event, options)
	if err != nil {
		return nil
	}
	return response
}

// execute executes a subscription for one event, with the meter of ctx. It returns nil if ctx is done.
func (e *Executor) execute(ctx context.Context, op *graphql.OperationContext, event retwis.Event) *graphql.Response {
	if ctx.Err() != nil {
		return nil
	}
	field := subscribedField(op)
	ctx = e.sources.With(e.withResponse(graphql.WithOperationContext(ctx, op)), loaders.EventWait)
	response := e.render(ctx, op, field, event)
	if response == nil {
		return nil
	}
	response.Errors = append(response.Errors, graphql.GetErrors(ctx)...)
	response.Extensions = graphql.GetExtensions(ctx)
	if len(response.Errors) > 0 && string(response.Data) == `{"`+field.Alias+`":null}` {
		response.Data = []byte("null") // the field is not nullable; generated code does not check that
	}
	return response
}

// render returns the data of the response for an event, and adds errors to the response of ctx.
func (e *Executor) render(
	ctx context.Context, op *graphql.OperationContext, field graphql.CollectedField, event retwis.Event,
) *graphql.Response {
	// Generated code leaves the field of the subscription out of the paths of errors.
	inField := graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: field})
	plan, _ := op.Stats.GetExtension(planKey).(*exec.Plan)
	if plan == nil {
		plan = e.planOf(ctx, op)
	}
	if plan != nil {
		return e.exec.Render(inField, op, plan, event)
	}
	generated := newSchema(e.schema, eventResolver{e.resolvers, event})
	next := generated.Exec(ctx)
	if len(graphql.GetErrors(ctx)) > 0 {
		return &graphql.Response{}
	}
	return next(inField)
}

// planOf returns the plan of a subscription, or nil if gqlgen executes it.
func (e *Executor) planOf(ctx context.Context, op *graphql.OperationContext) *exec.Plan {
	if e.unplanned {
		return nil
	}
	return e.exec.Plan(ctx, op)
}

// withResponse returns a context that collects the errors of one response.
func (e *Executor) withResponse(ctx context.Context) context.Context {
	return graphql.WithResponseContext(ctx, e.present, recoverPanic)
}

// subscribedField returns the one field of a subscription.
func subscribedField(op *graphql.OperationContext) graphql.CollectedField {
	return graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})[0]
}

// eventResolver resolves a subscription to one event. gqlgen executes subscriptions without a plan with it.
type eventResolver struct {
	ResolverRoot
	event retwis.Event
}

// Subscription implements [ResolverRoot].
func (r eventResolver) Subscription() SubscriptionResolver { return r }

// TimelineEvents implements [SubscriptionResolver].
func (r eventResolver) TimelineEvents(context.Context, *string, *retwis.Cursor, *retwis.TimelineFilter) (<-chan retwis.Event, error) {
	events := make(chan retwis.Event, 1)
	events <- r.event
	close(events)
	return events, nil
}
