package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/loaders"
)

// plannedSchema executes operations by plans, and leaves to gqlgen's generated code those
// that have none: what reads the schema, above all.
//
// Interceptors of operations, responses and fields of the root run as ever; in a query,
// those of the root's fields see the resolver of the field run, and not what is below it.
// Interceptors of fields see the fields whose resolvers may wait: not plain data, not what
// [quickResolvers] names, and not what comes from loaders.
type plannedSchema struct {
	*executableSchema
	planner    planner
	documents  *documentCache
	executions sync.Pool
}

func newPlannedSchema(generated *executableSchema, documents *documentCache) *plannedSchema {
	return &plannedSchema{
		executableSchema: generated,
		planner: planner{
			schema:  generated.Schema(),
			objects: newTypes(generated.Resolvers),
			quick:   quickResolvers(),
			hints:   loaderHints(),
			counts:  counts(),
			ahead:   aheadOf(),
		},
		documents: documents,
	}
}

// Exec implements [graphql.ExecutableSchema].
func (s *plannedSchema) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	p := s.planOf(op)
	if p == nil {
		return s.executableSchema.Exec(ctx)
	}
	switch op.Operation.Operation {
	case ast.Query:
		return s.once(op, p, (*execution).query)
	case ast.Mutation:
		return s.once(op, p, (*execution).mutation)
	default:
		return s.executableSchema.Exec(ctx)
	}
}

// planOf returns the plan of an operation, or nil where it is left to gqlgen.
func (s *plannedSchema) planOf(op *graphql.OperationContext) *plan {
	return s.documents.planOf(op, s.planner)
}

// once returns the handler of an operation that has one response.
func (s *plannedSchema) once(
	op *graphql.OperationContext, p *plan, run func(*execution, *selection) bool,
) graphql.ResponseHandler {
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		return s.respond(ctx, op, p, func(e *execution) {
			if !run(e, p.root) {
				e.buf = append(e.buf, "null"...)
			}
		})
	}
}

// respond runs an execution for one response.
func (s *plannedSchema) respond(
	ctx context.Context, op *graphql.OperationContext, p *plan, run func(*execution),
) *graphql.Response {
	e, _ := s.executions.Get().(*execution)
	if e == nil {
		e = &execution{}
	}
	e.op, e.ctx, e.selected = op, ctx, p.selected
	e.fields = newExecutionContext(op, s.executableSchema, nil)
	length := int(p.length.Load())
	e.buf = make([]byte, 0, length+length/8+128)
	run(e)
	data := e.buf
	p.length.Store(int64(len(data)))
	e.reset() // not after a panic, whose goroutines may still run
	s.executions.Put(e)
	return &graphql.Response{Data: data}
}

// query resolves everything, and writes it then.
func (e *execution) query(s *selection) bool {
	loaders.From(e.ctx).Select(e.selected)
	for _, f := range s.resolved {
		e.add(&e.root, f, nil)
	}
	e.resolveWaves()
	return e.write(func() bool {
		next := e.root.first
		return e.writeObject(s, nil, &next)
	})
}

// mutation resolves and writes one field of the root after the other.
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
		p := e.places.get()
		p.field, p.parent = f, &e.root
		e.resolveRoot(p, func(ctx context.Context) {
			e.ctx = ctx
			loaders.From(ctx).Select(e.selected)
			e.below(p)
			e.resolveWaves()
		})
		ok := e.write(func() bool { return e.writeRootField(p) })
		valid = valid && ok
	}
	if !valid {
		e.buf = e.buf[:start]
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

// writeRootField writes a field of a mutation. It may be called again after a panic.
func (e *execution) writeRootField(p *place) bool {
	next := p
	if e.careful {
		return e.writeCarefully(p.field, nil, &next)
	}
	return e.writeField(p.field, nil, &next)
}

// event writes the response to an event of a subscription. The context has the field that
// the event is the value of.
func (e *execution) event(f *plannedField, event any) {
	loaders.From(e.ctx).Select(e.selected)
	e.root.field, e.root.value = f, event
	e.below(&e.root)
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
