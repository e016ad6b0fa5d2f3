package exec

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Config says what a [Schema] executes operations with.
type Config struct {
	Generated graphql.ExecutableSchema // of gqlgen: executes introspection, and operations that have no plan
	Types     map[string]*ObjectType   // by their names
	// NewContext returns what the generated functions of [FieldType.Prepare] read the arguments of an operation with.
	NewContext func(op *graphql.OperationContext) any
	Hooks      Hooks
	Documents  *DocumentCache
	TooLarge   error // the error of operations that expand to too much
	TooMany    error // the error of responses that resolve too many fields

	// NullCondition returns the error of an operation with a @skip or @include whose variable is null.
	NullCondition func(variable string) error
}

// Schema executes queries and mutations by plans, and events of subscriptions with [Schema.Render].
//
// Interceptors of operations, responses and root fields run as with gqlgen. In a query, interceptors of root fields see
// the resolver of the field run, not those below it. Interceptors of fields see only fields that are resolved and are
// neither in [Hooks.Immediate] nor in [Hooks.Announce].
type Schema struct {
	graphql.ExecutableSchema
	planner    planner
	newContext func(op *graphql.OperationContext) any
	documents  *DocumentCache
	executions sync.Pool
}

// NewSchema returns a schema that makes plans and keeps them in the cache of documents.
func NewSchema(c Config) *Schema {
	if c.Hooks.Begin == nil {
		c.Hooks.Begin = func(context.Context, Flags) {}
	}
	if c.Hooks.Plan == nil {
		c.Hooks.Plan = func(context.Context, bool) (func(int), error) { return func(int) {}, nil }
	}
	if c.Hooks.Stopped == nil {
		c.Hooks.Stopped = func(context.Context) error { return nil }
	}
	if c.Hooks.Added == nil {
		c.Hooks.Added = func(context.Context, int) error { return nil }
	}
	if c.Hooks.Written == nil {
		c.Hooks.Written = func(context.Context, int) error { return nil }
	}
	return &Schema{
		ExecutableSchema: c.Generated,
		planner: planner{
			schema: c.Generated.Schema(), types: c.Types, hooks: c.Hooks, tooLarge: c.TooLarge, tooMany: c.TooMany, nullCondition: c.NullCondition,
		},
		newContext: c.NewContext,
		documents:  c.Documents,
	}
}

// Exec implements [graphql.ExecutableSchema]. Making the plan is a part of the response, so that it waits for its turn, too.
func (s *Schema) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	if op.Operation.Operation == ast.Subscription {
		return s.ExecutableSchema.Exec(ctx)
	}
	var respond graphql.ResponseHandler
	return func(ctx context.Context) *graphql.Response {
		if respond == nil {
			respond = s.responses(ctx, op)
		}
		return respond(ctx)
	}
}

// responses returns the handler of a query or a mutation.
func (s *Schema) responses(ctx context.Context, op *graphql.OperationContext) graphql.ResponseHandler {
	plan := s.Plan(ctx, op)
	switch {
	case plan == nil:
		return s.ExecutableSchema.Exec(ctx)
	case op.Operation.Operation == ast.Query:
		return s.once(op, plan, (*execution).query)
	default:
		return s.once(op, plan, (*execution).mutation)
	}
}

// Plan returns the plan of an operation, or nil if gqlgen has to execute it.
func (s *Schema) Plan(ctx context.Context, op *graphql.OperationContext) *Plan {
	plan := s.documents.planOf(ctx, op, &s.planner)
	if plan != nil && op.Operation.Operation == ast.Subscription && !plan.isStream() {
		return nil
	}
	return plan
}

// isStream reports whether the plan of a subscription selects one field that has events.
func (p *Plan) isStream() bool {
	return p.refused != nil || len(p.root.fields) == 1 && p.root.fields[0].FieldType != nil
}

// PrepareRoot returns the context of a root field, with its arguments. A failure is an error of the response.
func (s *Schema) PrepareRoot(
	ctx context.Context, op *graphql.OperationContext, field graphql.CollectedField,
) (*graphql.FieldContext, error) {
	f := s.planner.types[rootName(op.Operation.Operation)].Fields[field.Name]
	return f.Prepare(ctx, s.newContext(op), field)
}

// Render executes the plan of a subscription for one event. The context must contain its field (see PrepareRoot). It
// returns the data of the response, and adds errors to those of the context.
func (s *Schema) Render(ctx context.Context, op *graphql.OperationContext, plan *Plan, event any) *graphql.Response {
	return s.respond(ctx, op, plan, func(e *execution) { e.event(plan.root.fields[0], event) })
}

// once returns the handler of an operation that has one response.
func (s *Schema) once(
	op *graphql.OperationContext, plan *Plan, run func(*execution, *selection) bool,
) graphql.ResponseHandler {
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		return s.respond(ctx, op, plan, func(e *execution) {
			if !run(e, plan.root) {
				e.buf = append(e.buf, "null"...)
			}
		})
	}
}

// respond runs an execution for one response.
func (s *Schema) respond(
	ctx context.Context, op *graphql.OperationContext, plan *Plan, run func(*execution),
) *graphql.Response {
	e, _ := s.executions.Get().(*execution)
	if e == nil {
		e = &execution{}
	}
	e.op, e.ctx, e.flags, e.begin = op, ctx, plan.flags, s.planner.hooks.Begin
	e.generated, e.introspection = s.newContext(op), s.ExecutableSchema
	e.written, e.checkAt, e.stop = s.planner.hooks.Written, checkEvery, s.planner.hooks.Stopped
	e.added, e.tooMany = s.planner.hooks.Added, s.planner.tooMany
	length := min(int(plan.length.Load()), checkEvery)
	e.buf = make([]byte, 0, length+length/8+128)
	if plan.refused != nil {
		e.stopped = plan.refused
	} else {
		run(e)
		e.checkLength()
	}
	data := e.buf
	if e.stopped != nil {
		data = []byte("null")
		e.op.Error(e.rootContext(), e.stopped)
	}
	plan.length.Store(int64(len(data)))
	e.reset() // not after a panic, because goroutines may still use it
	s.executions.Put(e)
	return &graphql.Response{Data: data}
}

// query resolves all fields, then writes the response.
func (e *execution) query(s *selection) bool {
	e.begin(e.ctx, e.flags)
	for _, f := range s.resolved {
		e.add(&e.root, f, nil)
	}
	e.resolveWaves()
	return e.write(func() bool {
		next := e.root.first
		return e.writeObject(s, nil, &next)
	})
}

// mutation resolves and writes one root field after the other.
func (e *execution) mutation(s *selection) bool {
	start, valid := len(e.buf), true
	e.buf = append(e.buf, '{')
	ctx := e.ctx
	for _, f := range s.fields {
		e.ctx = ctx
		e.buf = append(e.buf, f.key...)
		if f.constant != nil {
			e.buf = append(e.buf, f.constant...)
			continue
		}
		i := e.pool.get()
		i.field, i.parent = f, &e.root
		e.resolveRoot(i, func(ctx context.Context) {
			e.ctx = ctx
			e.begin(ctx, e.flags)
			e.descend(i)
			e.resolveWaves()
		})
		ok := e.write(func() bool { return e.writeRootField(i) })
		valid = valid && ok
	}
	if !valid {
		e.discard(start)
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

// writeRootField writes a field of a mutation. It may be called again after a panic.
func (e *execution) writeRootField(i *instance) bool {
	next := i
	if e.recovering {
		return e.writeRecovering(i.field, nil, &next)
	}
	return e.writeField(i.field, nil, &next)
}

// event writes the response for an event of a subscription. The context has the field whose value the event is.
func (e *execution) event(f *plannedField, event any) {
	e.begin(e.ctx, e.flags)
	e.root.field, e.root.value = f, event
	e.descend(&e.root)
	e.resolveWaves()
	e.buf = append(e.buf, '{')
	e.buf = append(e.buf, f.key...)
	ok := e.write(func() bool {
		if event == nil {
			e.fail(nil, failure{err: errNull})
			return false
		}
		next := e.root.first
		return e.writeValue(f, event, &next)
	})
	if !ok {
		e.buf = append(e.buf, "null"...)
	}
	e.buf = append(e.buf, '}')
}
