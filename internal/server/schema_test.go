package server

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
	"retwis/internal/retwis"
)

// backend is a schema that runs without generated code, on gqlgen's own executor.
type backend struct {
	schema *ast.Schema

	mu     sync.Mutex
	topics map[string]chan any
	gates  map[string]chan struct{}
	inGate int
	open   int // subscriptions
	posts  atomic.Int64

	timelines timelines
}

const testSchema = `
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

func newBackend() *backend {
	return &backend{
		schema:    gqlparser.MustLoadSchema(&ast.Source{Input: testSchema}),
		topics:    map[string]chan any{},
		gates:     map[string]chan struct{}{},
		timelines: timelines{sinks: map[string][]*attached{}},
	}
}

func (b *backend) executor() *testExecutor {
	e := executor.New(b)
	e.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		shown := graphql.DefaultErrorPresenter(ctx, err)
		if e, ok := errors.AsType[*retwis.Error](err); ok {
			shown.Extensions = map[string]any{"code": string(e.Code)}
		}
		return shown
	})
	return &testExecutor{e, b}
}

// testExecutor compares operations by their document; with the field "mine" in it, an
// operation is its viewer's.
type testExecutor struct {
	*executor.Executor
	backend *backend
}

// Subscribe implements [Executor].
func (e *testExecutor) Subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, gqlerror.List) {
	source, err := e.backend.subscribe(ctx, op)
	if err != nil {
		ctx = graphql.WithOperationContext(ctx, op)
		return nil, e.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)}).Errors
	}
	return source, nil
}

// Render implements [Executor].
func (e *testExecutor) Render(ctx context.Context, op *graphql.OperationContext, event retwis.Event) *graphql.Response {
	if subscribed(op).Name == "timeline" {
		return e.backend.timelines.execute(ctx, event)
	}
	return &graphql.Response{Data: json.RawMessage(`{"` + subscribed(op).Alias + `":` + event.(*retwis.PostAdded).Edge.Post.Text + `}`)}
}

func subscribed(op *graphql.OperationContext) graphql.CollectedField {
	return graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})[0]
}

// RenderGroup implements [Executor].
func (*testExecutor) RenderGroup(op *graphql.OperationContext) (key string, ofViewer bool) {
	return op.RawQuery, strings.Contains(op.RawQuery, "mine")
}

// topic returns the channel that feeds a topic: strings are events, an error ends the
// stream with that reason, and closing it ends it without one.
func (b *backend) topic(name string) chan any {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.topics[name] == nil {
		b.topics[name] = make(chan any)
	}
	return b.topics[name]
}

// gate returns the channel that an operation waits for.
func (b *backend) gate(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gates[name] == nil {
		b.gates[name] = make(chan struct{})
	}
	return b.gates[name]
}

func (b *backend) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inGate
}

func (b *backend) subscriptions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

func (b *backend) note(counter *int, by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*counter += by
}

func (b *backend) Schema() *ast.Schema { return b.schema }

func (b *backend) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (b *backend) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		var data bytes.Buffer
		data.WriteByte('{')
		root := string(op.Operation.Operation)
		root = strings.ToUpper(root[:1]) + root[1:]
		for i, f := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{root}) {
			value, err := b.resolve(ctx, root, f.Name, f.ArgumentMap(op.Variables))
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

func (b *backend) resolve(ctx context.Context, root, field string, args map[string]any) (any, error) {
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
		b.note(&b.inGate, 1)
		defer b.note(&b.inGate, -1)
		select {
		case <-b.gate(args["name"].(string)):
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

func (b *backend) subscribe(ctx context.Context, op *graphql.OperationContext) (retwis.EventSource, error) {
	field := subscribed(op)
	args := field.ArgumentMap(op.Variables)
	switch field.Name {
	case "timeline":
		return b.timelines.subscribe(ctx, args)
	case "feed":
		return b.sourceOf(b.topic(args["topic"].(string))), nil
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

// sourceOf returns a source of what a channel holds, each value as a post of its own whose
// text is the value in JSON.
func (b *backend) sourceOf(values <-chan any) retwis.EventSource {
	return func(ctx context.Context, _ retwis.Cursor, sink retwis.Sink) error {
		b.note(&b.open, 1)
		go func() {
			sink.End(b.forward(ctx, values, sink))
			b.note(&b.open, -1)
		}()
		return nil
	}
}

// forward returns the reason why it ends.
func (b *backend) forward(ctx context.Context, values <-chan any, sink retwis.Sink) error {
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
