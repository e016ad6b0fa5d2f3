package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// Backend is a schema that runs without generated code, on gqlgen's own executor.
type Backend struct {
	Timelines    *Timelines
	ChargeEvents atomic.Pointer[error] // why events for one client are refused
	Spent        atomic.Pointer[error] // why clients are not admitted
	Admitted     atomic.Int64          // a user who is admitted nevertheless
	Refusals     atomic.Int64          // because of Spent; each waits in the service
	Charged      atomic.Int64          // points that transports charged
	Sent         atomic.Int64          // points that were charged for events that were sent

	schema *ast.Schema

	mu     sync.Mutex
	topics map[string]chan any
	gates  map[string]chan struct{}

	inGate, open, posts atomic.Int64
}

const schema = `
	type Query {
		hello: String!
		whoami: String!
		echo(value: Int!): Int!
		blob(size: Int!): String!
		fail: String
		panics: String
		gate(name: String!): String!
	}
	type Mutation {
		hello: String!
		login(token: String!): String!
		gate(name: String!): String!
	}
	type Subscription {
		feed(topic: String!): String!
		count(to: Int!): Int!
		private: String!
		timeline(name: String!, after: String): Happening!
	}
	type Happening { text: String! cursor: String! viewer: String! mine: String! }
`

// Subscriptions of the backend.
const (
	FeedA = `subscription { feed(topic: "a") }`
	FeedB = `subscription { feed(topic: "b") }`

	News     = `subscription { timeline(name: "news") { text cursor } }`
	NewsMine = `subscription { timeline(name: "news") { text cursor mine } }` // renders for each viewer
)

// NewBackend returns a backend without automatic events.
func NewBackend() *Backend {
	return &Backend{
		schema:    gqlparser.MustLoadSchema(&ast.Source{Input: schema}),
		topics:    map[string]chan any{},
		gates:     map[string]chan struct{}{},
		Timelines: &Timelines{sinks: map[string][]*Attached{}},
	}
}

// Topic returns the channel that feeds a topic: strings are events, an error ends the
// subscription with that reason, and closing it ends the subscription without one.
func (b *Backend) Topic(name string) chan any {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.topics[name] == nil {
		b.topics[name] = make(chan any)
	}
	return b.topics[name]
}

// Gate returns the channel that an operation waits for.
func (b *Backend) Gate(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gates[name] == nil {
		b.gates[name] = make(chan struct{})
	}
	return b.gates[name]
}

// Waiting returns how many operations wait at a gate.
func (b *Backend) Waiting() int { return int(b.inGate.Load()) }

// Subscriptions returns how many subscriptions to topics are open.
func (b *Backend) Subscriptions() int { return int(b.open.Load()) }

// Executor returns an executor of the backend.
func (b *Backend) Executor() operation.Executor {
	e := executor.New(schemaExecutor{b})
	e.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		shown := graphql.DefaultErrorPresenter(ctx, err)
		if e, ok := errors.AsType[*retwis.Error](err); ok {
			shown.Extensions = map[string]any{"code": string(e.Code)}
		}
		return shown
	})
	return &backendExecutor{e, b}
}

// backendExecutor compares operations by their document. With the field "mine" in it, an
// operation renders for its viewer.
type backendExecutor struct {
	*executor.Executor
	backend *Backend
}

// Admit implements [operation.Executor].
func (e *backendExecutor) Admit(ctx context.Context) error {
	if !e.Afford(ctx) {
		e.backend.Refusals.Add(1)
		return *e.backend.Spent.Load()
	}
	return nil
}

// Afford implements [operation.Executor].
func (e *backendExecutor) Afford(ctx context.Context) bool {
	user := auth.IdentityOf(ctx).User
	return e.backend.Spent.Load() == nil || user != 0 && int64(user) == e.backend.Admitted.Load()
}

// Spend implements [operation.Executor].
func (e *backendExecutor) Spend(_ context.Context, points int) {
	e.backend.Charged.Add(int64(points))
}

// Check implements [operation.Executor].
func (e *backendExecutor) Check(ratelimit.Client) error {
	if err := e.backend.ChargeEvents.Load(); err != nil {
		return *err
	}
	return nil
}

// Charge implements [operation.Executor].
func (e *backendExecutor) Charge(_ ratelimit.Client, points int) error {
	e.backend.Sent.Add(int64(points))
	return nil
}

// Knows implements [operation.Executor].
func (e *backendExecutor) Knows(*graphql.RawParams) bool { return false }

// Prepare implements [operation.Executor]. It counts nothing.
func (e *backendExecutor) Prepare(
	ctx context.Context, params *graphql.RawParams, _ bool,
) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List) {
	op, errs := e.CreateOperationContext(ctx, params)
	return op, ratelimit.Budget{}, errs
}

// Subscribe implements [operation.Executor].
func (e *backendExecutor) Subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, gqlerror.List) {
	source, err := e.backend.subscribe(ctx, op)
	if err != nil {
		ctx = graphql.WithOperationContext(ctx, op)
		return nil, e.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)}).Errors
	}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return source(ctx, after, sink)
	}, nil
}

// RenderFor implements [operation.Executor].
func (e *backendExecutor) RenderFor(
	ctx context.Context, op *graphql.OperationContext, event retwis.Event, payer, _ ratelimit.Client,
) (*graphql.Response, error) {
	if err := e.Check(payer); err != nil {
		return nil, err
	}
	if field := subscribed(op); field.Name != "timeline" {
		return &graphql.Response{Data: json.RawMessage(`{"` + field.Alias + `":` + event.(*retwis.PostAdded).Edge.Post.Text + `}`)}, nil
	}
	return e.backend.Timelines.render(ctx, event), nil
}

// RenderGroup implements [operation.Executor].
func (*backendExecutor) RenderGroup(op *graphql.OperationContext) (key string, size int, perViewer bool) {
	if strings.Contains(op.RawQuery, "panics") {
		panic("out of cheese")
	}
	return op.RawQuery, len(op.RawQuery), strings.Contains(op.RawQuery, "mine")
}

func subscribed(op *graphql.OperationContext) graphql.CollectedField {
	return graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})[0]
}

// schemaExecutor executes queries and mutations.
type schemaExecutor struct{ *Backend }

// Schema implements [graphql.ExecutableSchema].
func (s schemaExecutor) Schema() *ast.Schema { return s.schema }

// Complexity implements [graphql.ExecutableSchema].
func (schemaExecutor) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec implements [graphql.ExecutableSchema].
func (s schemaExecutor) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		var data bytes.Buffer
		data.WriteByte('{')
		root := rootName(op.Operation.Operation)
		for i, f := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{root}) {
			value, err := s.resolve(ctx, root, f.Name, f.ArgumentMap(op.Variables))
			if err != nil {
				graphql.AddError(ctx, err)
				return &graphql.Response{Data: json.RawMessage("null")}
			}
			if i > 0 {
				data.WriteByte(',')
			}
			text, _ := json.Marshal(value)
			data.WriteString(`"` + f.Alias + `":` + string(text))
		}
		data.WriteByte('}')
		return &graphql.Response{Data: data.Bytes()}
	}
}

func (b *Backend) resolve(ctx context.Context, root, field string, args map[string]any) (any, error) {
	switch field {
	case "__typename":
		return root, nil
	case "__type", "__schema":
		return nil, nil
	case "hello":
		return "world", nil
	case "whoami":
		return auth.IdentityOf(ctx).User.String(), nil
	case "echo":
		return args["value"], nil
	case "blob":
		n, _ := args["size"].(int64)
		return strings.Repeat("x", int(n)), nil
	case "login":
		auth.RequestOf(ctx).SetSessionCookie(args["token"].(string))
		return "welcome", nil
	case "gate":
		b.inGate.Add(1)
		defer b.inGate.Add(-1)
		select {
		case <-b.Gate(args["name"].(string)):
			return "through", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "panics":
		panic("out of cheese")
	default:
		return nil, errors.New("no luck")
	}
}

func (b *Backend) subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, error) {
	field := subscribed(op)
	args := field.ArgumentMap(op.Variables)
	switch field.Name {
	case "timeline":
		return b.Timelines.subscribe(ctx, args)
	case "feed":
		return b.sourceOf(b.Topic(args["topic"].(string))), nil
	case "count":
		to, _ := args["to"].(int64)
		numbers := make(chan any, to)
		for n := range to {
			numbers <- n
		}
		close(numbers)
		return b.sourceOf(numbers), nil
	default:
		return nil, retwis.ErrForbidden
	}
}

// sourceOf returns a source of the values in a channel. Each value is a post of its own,
// whose text is the value in JSON.
func (b *Backend) sourceOf(values <-chan any) retwis.EventSource {
	return func(ctx context.Context, _ retwis.Cursor, sink retwis.Sink) error {
		b.open.Add(1)
		go func() {
			sink.End(b.forward(ctx, values, sink))
			b.open.Add(-1)
		}()
		return nil
	}
}

// forward returns the reason of the end.
func (b *Backend) forward(ctx context.Context, values <-chan any, sink retwis.Sink) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case value, open := <-values:
			if err, failed := value.(error); failed || !open {
				return err
			}
			text, _ := json.Marshal(value)
			id := retwis.PostID(b.posts.Add(1))
			if !sink.Take(&retwis.PostAdded{Edge: retwis.PostEdge{
				Cursor: retwis.Cursor("at-" + id.String()), Post: &retwis.Post{ID: id, Text: string(text)},
			}}) {
				return retwis.ErrSlowConsumer
			}
		}
	}
}
