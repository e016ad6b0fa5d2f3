package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// noIntrospection refuses operations that read the schema.
type noIntrospection struct{}

func (noIntrospection) ExtensionName() string                   { return "NoIntrospection" }
func (noIntrospection) Validate(graphql.ExecutableSchema) error { return nil }

func (noIntrospection) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
		if field.Name == "__schema" || field.Name == "__type" {
			err := gqlerror.ErrorPosf(field.Position, "the schema cannot be read here")
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
	}
	return nil
}

// rulesWithoutSuggestions are the rules of validation that do not answer a mistake with
// names from the schema. Two more of the kind are replaced by the executor itself.
func rulesWithoutSuggestions() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, swap := range []struct{ talkative, silent validator.Rule }{
		{rules.KnownArgumentNamesRule, rules.KnownArgumentNamesRuleWithoutSuggestions},
		{rules.KnownTypeNamesRule, rules.KnownTypeNamesRuleWithoutSuggestions},
		{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions},
	} {
		r.RemoveRule(swap.talkative.Name)
		r.AddRule(swap.silent.Name, swap.silent.RuleFunc)
	}
	return r
}
