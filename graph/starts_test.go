package graph

import (
	"context"
	"errors"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/limits"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Attack: the work of starting a subscription, above all of resuming one far behind, was free, and ran beside the share of its client.
func TestSubscribe_ChargesTheStart(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	resolver := a.resolver()
	limited := &budget{left: 1 << 20}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	work := cost.Work{Scripts: 3, RoundTrips: 3, Rows: 2000}
	var replayed context.Context
	a.executor.eventSources["timelineEvents"] = func(ctx context.Context, _ map[string]any) (retwis.EventSource, error) {
		_ = cost.Of(ctx).Add(work)
		return func(ctx context.Context, _ retwis.Cursor, _ retwis.Sink) error {
			replayed = ctx
			return cost.Of(ctx).Add(work)
		}, nil
	}
	ctx := graphql.StartOperationTrace(t.Context())
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: `subscription { timelineEvents { __typename } }`})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	limited.left = 100 // less than the work
	source, errs := a.executor.Subscribe(ctx, op)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if err := source(ctx, "", nil); err != nil {
		t.Fatal("a start stopped without budget:", err)
	}
	due := 2*work.Points() + cost.PerOperation + cost.PerStart - limits.Price(op).Charged
	if charged := 100 - limited.left; charged != due {
		t.Errorf("charged %d points beyond the price, want %d", charged, due)
	}
	before := limited.left
	_ = cost.Of(replayed).Add(work)
	if charged := before - limited.left; charged < work.Points() {
		t.Errorf("charged %d points for what a replay reads, want %d", charged, work.Points())
	}
	if used := a.executor.shares.Bytes.Used(); used != 0 {
		t.Errorf("%d bytes are held", used)
	}
}

// A subscription starts within the share of its client.
func TestSubscribe_StartsWithinTheShareOfTheClient(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	ctx, cancel := context.WithCancel(graphql.StartOperationTrace(t.Context()))
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: `subscription { timelineEvents { __typename } }`})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	started := false
	a.executor.eventSources["timelineEvents"] = func(context.Context, map[string]any) (retwis.EventSource, error) {
		return func(context.Context, retwis.Cursor, retwis.Sink) error { started = true; return nil }, nil
	}
	source, errs := a.executor.Subscribe(ctx, op)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	leave, err := a.executor.shares.Run(ctx, limits.ClientOf(ctx), 1<<20) // the whole share
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := source(ctx, "", nil); err == nil || started {
		t.Errorf("started %v, %v, while the share was in use", started, err)
	}
	if _, errs := a.executor.Subscribe(ctx, op); len(errs) == 0 {
		t.Error("authorised while the share was in use")
	}
	leave()
}

// A subscription that was authorised, and that the transport refuses, pays for its start.
func TestSubscribe_ChargesForAStartThatIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	resolver := a.resolver()
	limited := &budget{left: 1000}
	resolver.Limits = limited
	a.serve(resolver, Options{})
	a.executor.eventSources["timelineEvents"] = func(context.Context, map[string]any) (retwis.EventSource, error) {
		return func(context.Context, retwis.Cursor, retwis.Sink) error { t.Error("started"); return nil }, nil
	}
	ctx, refuse := context.WithCancelCause(graphql.StartOperationTrace(t.Context()))
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: `subscription { timelineEvents { __typename } }`})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	source, errs := a.executor.Subscribe(ctx, op)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	refuse(retwis.ErrForbidden)
	if err := source(ctx, "", nil); !errors.Is(err, retwis.ErrForbidden) {
		t.Errorf("the source fails with %v", err)
	}
	if charged, due := 1000-limited.left, cost.PerOperation+cost.PerStart-limits.Price(op).Charged; charged != due {
		t.Errorf("charged %d points beyond the price, want %d", charged, due)
	}
}

// attached remembers the subscriber of a subscription.
type attached struct {
	Live
	who retwis.Subscriber
}

// Attach implements [Live].
func (a *attached) Attach(_ context.Context, who retwis.Subscriber, _ retwis.TimelineID, _ retwis.Cursor, _ retwis.Sink) error {
	a.who = who
	return nil
}

// What a subscription makes the hub read is charged to its client. Attack: users who mention somebody hundreds of times a second used up the budget of a
// reader of these mentions, whose pages were refused.
func TestSubscribe_ChargesWhatTheHubReads(t *testing.T) {
	t.Parallel()
	const budgetOfClient, half = 1000, 500
	a := newAPI(Options{})
	resolver := a.resolver()
	limited, live := &budget{left: budgetOfClient, half: half}, &attached{}
	resolver.Limits, resolver.Live = limited, live
	a.serve(resolver, Options{})
	reader := a.addUser("alice")
	for timeline, open := range map[retwis.TimelineID]bool{
		retwis.Public(): true, retwis.Mentions(reader.ID): true, retwis.Home(reader.ID): false, retwis.Profile(reader.ID): false,
	} {
		limited.left = budgetOfClient
		subscribeAs(t, a, reader, timeline)
		before := limited.left
		if err := live.who.Charge(30); err != nil || before-limited.left != 30 {
			t.Errorf("%v: charged %d points, want 30: %v", timeline, before-limited.left, err)
		}
		limited.left = half + 30
		if err := live.who.Charge(30); err != nil {
			t.Errorf("%v: half of the budget is left: %v", timeline, err)
		}
		if err := live.who.Charge(1); (err != nil) != open {
			t.Errorf("%v: less than half of the budget is left: %v", timeline, err)
		}
		if err := live.who.Charge(budgetOfClient); err == nil {
			t.Errorf("%v: charged beyond the budget without an error", timeline)
		}
	}
}

// subscribeAs starts a subscription of a user to a timeline.
func subscribeAs(t *testing.T, a *api, user *retwis.User, timeline retwis.TimelineID) {
	t.Helper()
	query := `subscription { timelineEvents(timelineId: "` + globalTimelineID(timeline) + `") { __typename } }`
	ctx := graphql.StartOperationTrace(as(t, user))
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	source, errs := a.executor.Subscribe(ctx, op)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if err := source(ctx, "", nil); err != nil {
		t.Fatal(err)
	}
}
