package limits

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// NoIntrospection is a gqlgen extension that refuses operations that read the schema.
type NoIntrospection struct{}

// ExtensionName implements [graphql.HandlerExtension].
func (NoIntrospection) ExtensionName() string { return "NoIntrospection" }

// Validate implements [graphql.HandlerExtension].
func (NoIntrospection) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator].
func (NoIntrospection) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
		if field.Name == "__schema" || field.Name == "__type" {
			err := gqlerror.ErrorPosf(field.Position, "introspection is disabled")
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
	}
	return nil
}
