package exec

import (
	"bytes"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// isIntrospection reports whether gqlgen executes a root field.
func isIntrospection(name string) bool { return name == "__schema" || name == "__type" }

// writeIntrospection has gqlgen execute a root field, as the only one of an operation, and appends its value. The objects of the value count as
// fields that the response resolves.
func (e *execution) writeIntrospection(f *plannedField) {
	if e.stopped != nil {
		return // the data of the response is null
	}
	field := *f.collected.Field
	field.SelectionSet, field.Directives = f.collected.Selections, nil
	operation := *e.op.Operation
	operation.SelectionSet = ast.SelectionSet{&field}
	ctx := graphql.WithOperationContext(e.ctx, &graphql.OperationContext{
		RawQuery: e.op.RawQuery, Variables: e.op.Variables, Doc: e.op.Doc, Operation: &operation,
		DisableIntrospection: e.op.DisableIntrospection,
		RecoverFunc:          e.op.RecoverFunc, ResolverMiddleware: e.op.ResolverMiddleware, RootResolverMiddleware: e.op.RootResolverMiddleware,
	})
	data := e.introspection.Exec(ctx)(ctx).Data
	e.stopped = e.added(e.ctx, bytes.Count(data, []byte("{")))
	e.buf = append(e.buf, data[len(`{"`+field.Alias+`":`):len(data)-len(`}`)]...)
}
