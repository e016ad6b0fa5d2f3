package graph

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// resolveOne resolves a place and reports its failure.
func (e *execution) resolveOne(p *place) {
	switch {
	case p.field.up == nil:
		e.resolveRoot(p, func(context.Context) {})
	case p.field.quick || p.field.hint != nil:
		e.call(p)
	default:
		e.resolveInContext(e.contextOf(p.parent, p), p)
	}
}

// resolveRoot resolves a field of the root and does what is to be done with it, inside the
// interceptors of such fields.
func (e *execution) resolveRoot(p *place, then func(context.Context)) {
	ctx := graphql.WithRootFieldContext(e.rootContext(), &graphql.RootFieldContext{
		Object: p.field.collected.Name, Field: p.field.collected,
	})
	answer := e.op.RootResolverMiddleware(ctx, func(ctx context.Context) graphql.Marshaler {
		e.resolveInContext(ctx, p)
		then(ctx)
		return resolved{}
	})
	if _, ok := answer.(resolved); !ok {
		p.raw = answer
	}
}

// resolved stands for a value that is written later.
type resolved struct{}

// MarshalGQL implements [graphql.Marshaler] for an interceptor that insists.
func (resolved) MarshalGQL(w io.Writer) { graphql.Null.MarshalGQL(w) }

// resolveInContext resolves a place as gqlgen does: with a context that knows the field,
// its arguments, and inside the interceptors of fields. The context is that of the object.
func (e *execution) resolveInContext(ctx context.Context, p *place) {
	fc, err := p.field.prepare(ctx, e.fields, p.field.collected)
	if err != nil {
		p.failed = true // it was reported where the argument is
		return
	}
	ctx = graphql.WithFieldContext(ctx, fc)
	defer func() {
		if r := recover(); r != nil {
			e.crashed(ctx, p, r)
		}
	}()
	p.value, err = e.op.ResolverMiddleware(ctx, func(ctx context.Context) (any, error) {
		return p.field.resolve(ctx, p.object, fc)
	})
	if err != nil {
		e.report(ctx, p, err)
	}
}

// call resolves a place without a context of its own, which most resolvers never look at.
func (e *execution) call(p *place) {
	defer func() {
		if r := recover(); r != nil {
			e.crashed(e.contextOf(p, nil), p, r)
		}
	}()
	var err error
	if p.value, err = p.field.resolve(e.ctx, p.object, nil); err != nil {
		e.report(e.contextOf(p, nil), p, err)
	}
}

func (e *execution) crashed(ctx context.Context, p *place, reason any) {
	e.op.Error(ctx, e.op.Recover(ctx, reason))
	p.value, p.failed = nil, true
}

func (e *execution) report(ctx context.Context, p *place, err error) {
	e.op.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
	p.value, p.failed = nil, true
}

// rootContext returns the context of the root's fields.
func (e *execution) rootContext() context.Context {
	return graphql.WithFieldContext(e.ctx, &graphql.FieldContext{Object: rootName(e.op.Operation.Operation)})
}

// contextOf returns the context of the value of a place; or, with a place below it, that
// of the object there.
func (e *execution) contextOf(p, below *place) context.Context {
	ctx := e.rootContext()
	if p != &e.root {
		ctx = e.contextOfField(e.contextOf(p.parent, p), p.field)
	}
	if below == nil {
		return ctx
	}
	list := 0
	element := func(f *plannedField) {
		if f != nil && f.isList() {
			ctx = contextOfElement(ctx, int(below.indices[list]))
			list++
		}
	}
	element(p.field)
	for _, f := range fieldsBetween(p.field, below.field) {
		ctx = e.contextOfField(ctx, f)
		element(f)
	}
	return ctx
}

// fieldsBetween returns the fields from above to below, without these two.
func fieldsBetween(above, below *plannedField) []*plannedField {
	if below.up == above {
		return nil
	}
	return append(fieldsBetween(above, below.up), below.up)
}

func (e *execution) contextOfField(ctx context.Context, f *plannedField) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: f.typeName, Field: f.collected})
}

func contextOfElement(ctx context.Context, i int) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i})
}
