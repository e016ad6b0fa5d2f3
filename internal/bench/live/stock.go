package live

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// stock is gqlgen's websocket transport set up as in its documentation.
type stock struct{ executor *graph.Executor }

func (s stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	transport.Websocket{
		KeepAlivePingInterval: 25 * time.Second,
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			_, token, _ := strings.Cut(payload.Authorization(), " ")
			who, err := anybody{}.Authenticate(ctx, token)
			return auth.WithIdentity(ctx, who), nil, err
		},
	}.Do(w, r, stockExecutor{s.executor})
}

// stockExecutor runs subscriptions as gqlgen's transports expect it: each subscriber has a
// channel of events, and each event is rendered for each subscriber.
type stockExecutor struct{ *graph.Executor }

// DispatchOperation implements [graphql.GraphExecutor].
func (e stockExecutor) DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	if op.Operation.Operation != ast.Subscription {
		return e.Executor.DispatchOperation(ctx, op)
	}
	ctx = graphql.WithOperationContext(ctx, op)
	source, errs := e.Subscribe(ctx, op)
	if len(errs) > 0 {
		return graphql.OneShot(&graphql.Response{Errors: errs}), ctx
	}
	c := &channelSink{events: make(chan retwis.Event, channelLength), ended: make(chan struct{})}
	if err := source(ctx, "", c); err != nil {
		return graphql.OneShot(e.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)})), ctx
	}
	return func(ctx context.Context) *graphql.Response {
		select {
		case event, open := <-c.events:
			if !open {
				return nil
			}
			return e.Render(ctx, op, event)
		case <-ctx.Done():
			return nil
		}
	}, ctx
}

const (
	channelLength = 8    // events in the channel of a subscriber; most subscribers are idle
	maxWaiting    = 1024 // events that a subscriber may be behind
)

// channelSink is a sink that is read like a channel. A subscriber that falls behind has a
// queue, and a goroutine until it has caught up.
type channelSink struct {
	events chan retwis.Event
	ended  chan struct{}

	mu      sync.Mutex
	waiting []retwis.Event // for room in the channel
	sending bool           // a goroutine sends; it alone uses the channel, and empties waiting
}

// FilterBy implements [retwis.Sink]. The benchmark subscribes without a filter.
func (c *channelSink) FilterBy(func(retwis.Event) retwis.Event) {}

// Take implements [retwis.Sink].
func (c *channelSink) Take(e retwis.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting)+len(c.events) >= maxWaiting {
		return false
	}
	if !c.sending {
		select {
		case c.events <- e:
			return true
		default:
			c.sending = true
			go c.send()
		}
	}
	c.waiting = append(c.waiting, e)
	return true
}

// Room implements [retwis.Sink].
func (*channelSink) Room() <-chan struct{} { return nil }

// Replay implements [retwis.Sink].
func (c *channelSink) Replay(ctx context.Context, e retwis.Event) {
	select {
	case c.events <- e:
	case <-ctx.Done():
	}
}

// End implements [retwis.Sink].
func (c *channelSink) End(error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.ended)
	if !c.sending {
		close(c.events)
	}
}

func (c *channelSink) send() {
	for {
		c.mu.Lock()
		select {
		case <-c.ended:
			close(c.events)
			c.mu.Unlock()
			return
		default:
		}
		if len(c.waiting) == 0 {
			c.waiting, c.sending = nil, false
			c.mu.Unlock()
			return
		}
		e := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		select {
		case c.events <- e:
		case <-c.ended:
		}
	}
}
