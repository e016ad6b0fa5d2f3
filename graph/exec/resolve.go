package exec

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// resolveInstance resolves an instance and reports its failure.
func (e *execution) resolveInstance(i *instance) {
	switch {
	case i.field.up == nil:
		e.resolveRoot(i, func(context.Context) {})
	case i.field.immediate || i.field.announce != nil:
		e.call(i)
	default:
		e.resolveInContext(e.contextOf(i.parent, i), i)
	}
}

// resolveRoot resolves a root field and calls then, inside the interceptors of root fields.
func (e *execution) resolveRoot(i *instance, then func(context.Context)) {
	ctx := graphql.WithRootFieldContext(e.rootContext(), &graphql.RootFieldContext{
		Object: i.field.collected.Name, Field: i.field.collected,
	})
	result := e.op.RootResolverMiddleware(ctx, func(ctx context.Context) graphql.Marshaler {
		e.resolveInContext(ctx, i)
		then(ctx)
		return resolved{}
	})
	if _, ok := result.(resolved); !ok {
		i.raw = result
	}
}

// resolved stands for a value that is written later.
type resolved struct{}

// MarshalGQL implements [graphql.Marshaler], which interceptors expect.
func (resolved) MarshalGQL(w io.Writer) { graphql.Null.MarshalGQL(w) }

// resolveInContext resolves an instance as gqlgen does: inside the interceptors of fields, with a context that has the
// field and its arguments. The given context is that of the object.
func (e *execution) resolveInContext(ctx context.Context, i *instance) {
	fc, err := i.field.Prepare(ctx, e.generated, i.field.collected)
	if err != nil {
		i.failed = true // the error was reported with the argument
		return
	}
	ctx = graphql.WithFieldContext(ctx, fc)
	defer func() {
		if r := recover(); r != nil {
			e.reportPanic(ctx, i, r)
		}
	}()
	i.value, err = e.op.ResolverMiddleware(ctx, func(ctx context.Context) (any, error) {
		return i.field.Resolve(ctx, i.object, fc)
	})
	if err != nil {
		e.reportError(ctx, i, err)
	}
}

// call resolves an instance without a context of its own, which saves an allocation that most resolvers do not need.
func (e *execution) call(i *instance) {
	defer func() {
		if r := recover(); r != nil {
			e.reportPanic(e.contextOf(i, nil), i, r)
		}
	}()
	var err error
	if i.value, err = i.field.Resolve(e.ctx, i.object, nil); err != nil {
		e.reportError(e.contextOf(i, nil), i, err)
	}
}

func (e *execution) reportPanic(ctx context.Context, i *instance, reason any) {
	e.op.Error(ctx, e.op.Recover(ctx, reason))
	i.value, i.failed = nil, true
}

func (e *execution) reportError(ctx context.Context, i *instance, err error) {
	e.op.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
	i.value, i.failed = nil, true
}

// rootContext returns the context of the root object.
func (e *execution) rootContext() context.Context {
	return graphql.WithFieldContext(e.ctx, &graphql.FieldContext{Object: rootName(e.op.Operation.Operation)})
}

// contextOf returns the context of the value of an instance or, given an instance below it, of the object of that one.
func (e *execution) contextOf(i, below *instance) context.Context {
	ctx := e.rootContext()
	if i != &e.root {
		ctx = e.contextOfField(e.contextOf(i.parent, i), i.field)
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
	element(i.field)
	for _, f := range fieldsBetween(i.field, below.field) {
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
