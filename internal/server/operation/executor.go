package operation

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Executor executes GraphQL operations.
type Executor interface {
	// Admit refuses a client whose budget of reads is used up, after a delay.
	Admit(ctx context.Context) error
	// Afford reports whether the client has a budget of reads left, beyond some points.
	Afford(ctx context.Context) bool
	// Spend charges the client for what the transport did without executing an operation.
	Spend(ctx context.Context, points int)
	// Check fails with RATE_LIMITED if a client has no budget left.
	Check(client ratelimit.Client) error
	// Charge charges a client for what it was sent without executing an operation. It fails with RATE_LIMITED if the client
	// has no budget left.
	Charge(client ratelimit.Client, points int) error
	// Knows reports whether the document of a request needs neither parsing nor validation, because it was sent in exactly this form before.
	Knows(params *graphql.RawParams) bool
	// Prepare parses, validates and counts an operation. It returns how much the client may
	// still read; the zero budget if reads have no limit. If the transport allows queries
	// only, mutations are not counted, because the transport refuses them.
	Prepare(ctx context.Context, params *graphql.RawParams, queriesOnly bool) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List)
	// DispatchOperation executes a query or a mutation.
	DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context)
	// DispatchError returns the response of an operation that failed.
	DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response
	// Subscribe authorises a subscription for the viewer of ctx and returns the source of
	// its events, or the errors that a client is shown.
	Subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, gqlerror.List)
	// RenderFor executes a subscription for one event, as the viewer of ctx, and performs no authorisation. The response is nil
	// when ctx is done. The payer is charged. The event is rendered within the shares of the holder, which is the payer if the event is
	// for it alone. RenderFor fails with RATE_LIMITED if the payer has no budget left.
	RenderFor(ctx context.Context, op *graphql.OperationContext, event retwis.Event, payer, holder ratelimit.Client) (*graphql.Response, error)
	// RenderGroup returns a key that subscriptions share when they render each event to
	// the same bytes for the same viewer, the size of what such a subscription keeps, and whether the bytes depend on the viewer. The
	// key is empty for an operation whose normal form is too long. The size is that of its text in bytes, or more if it has many fields, many values, or
	// a long document: the memory that the operation takes is about 15 times as much.
	RenderGroup(op *graphql.OperationContext) (key string, size int, perViewer bool)
}
