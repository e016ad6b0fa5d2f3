package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// api is an executor over a fakeBackend, and its log.
type api struct {
	*fakeBackend
	executor *Executor
	log      *bytes.Buffer
}

func newAPI(options Options) *api {
	a := &api{fakeBackend: newFakeBackend(), log: &bytes.Buffer{}}
	a.serve(a.resolver(), options)
	return a
}

// serve replaces the executor.
func (a *api) serve(resolver *Resolver, options Options) {
	options.Log = slog.New(slog.NewTextHandler(a.log, nil))
	a.executor = NewExecutor(resolver, options)
}

// as returns a context in which a user is logged in; nil is anonymous.
func as(t *testing.T, user *retwis.User) context.Context {
	t.Helper()
	if user == nil {
		return t.Context()
	}
	return auth.WithIdentity(t.Context(), auth.Identity{User: user.ID})
}

// start starts an operation like a transport. The variables are a JSON object, or empty. Each
// response of a subscription renders the next event.
func (a *api) start(ctx context.Context, query, variables string) (graphql.ResponseHandler, context.Context) {
	params := &graphql.RawParams{Query: query}
	if variables != "" {
		decoder := json.NewDecoder(strings.NewReader(variables))
		decoder.UseNumber()
		if err := decoder.Decode(&params.Variables); err != nil {
			panic(err)
		}
	}
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := a.executor.CreateOperationContext(ctx, params)
	if len(errs) > 0 {
		ctx = graphql.WithOperationContext(ctx, op)
		return graphql.OneShot(a.executor.DispatchError(ctx, errs)), ctx
	}
	if op.Operation.Operation != ast.Subscription {
		return a.executor.DispatchOperation(ctx, op)
	}
	source, errs := a.executor.Subscribe(ctx, op)
	if len(errs) > 0 {
		return graphql.OneShot(&graphql.Response{Errors: errs}), ctx
	}
	queue := &eventQueue{events: make(chan retwis.Event, 1000)}
	if err := source(ctx, "", queue); err != nil {
		ctx = graphql.WithOperationContext(ctx, op)
		return graphql.OneShot(a.executor.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)})), ctx
	}
	return func(ctx context.Context) *graphql.Response {
		for {
			select {
			case e, open := <-queue.events:
				if !open {
					return nil
				}
				if queue.filter != nil {
					e = queue.filter(e)
				}
				if e != nil {
					return a.executor.Render(ctx, op, e)
				}
			case <-ctx.Done():
				return nil
			}
		}
	}, ctx
}

// eventQueue is a sink from which events are read like from a channel.
type eventQueue struct {
	events chan retwis.Event
	filter func(retwis.Event) retwis.Event
}

// FilterBy implements [retwis.Sink].
func (q *eventQueue) FilterBy(apply func(retwis.Event) retwis.Event) { q.filter = apply }

// Take implements [retwis.Sink].
func (q *eventQueue) Take(e retwis.Event) bool {
	select {
	case q.events <- e:
		return true
	default:
		return false
	}
}

// Room implements [retwis.Sink].
func (*eventQueue) Room() <-chan struct{} { return nil }

// Replay implements [retwis.Sink].
func (q *eventQueue) Replay(ctx context.Context, e retwis.Event) {
	select {
	case q.events <- e:
	case <-ctx.Done():
	}
}

// End implements [retwis.Sink].
func (q *eventQueue) End(error) { close(q.events) }

// run runs a query or mutation.
func (a *api) run(ctx context.Context, query, variables string) *graphql.Response {
	responses, ctx := a.start(ctx, query, variables)
	return responses(ctx)
}

// wantData compares the data of a response that must have no errors.
func wantData(t *testing.T, response *graphql.Response, want string) {
	t.Helper()
	if len(response.Errors) > 0 {
		t.Fatalf("unexpected errors: %v", response.Errors)
	}
	wantJSON(t, string(response.Data), want)
}

func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
		t.Errorf("unexpected data (-want +got):\n%s", diff)
	}
}

func decode(t *testing.T, s string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", s, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Fatalf("more than one value in %s", s)
	}
	return v
}

// wantError returns the only error of a response, which must have the code.
func wantError(t *testing.T, response *graphql.Response, code string) *gqlerror.Error {
	t.Helper()
	if len(response.Errors) != 1 {
		t.Fatalf("got the errors %v, want one with the code %s", response.Errors, code)
	}
	err := response.Errors[0]
	if err.Extensions["code"] != code {
		t.Fatalf("got the code %v of error %q, want %s", err.Extensions["code"], err.Message, code)
	}
	return err
}
