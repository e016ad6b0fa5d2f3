package limits

import (
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"retwis/internal/netpoll"
)

// MaxErrors is the maximum number of errors that a client gets for one operation.
const MaxErrors = 20

// Validator validates documents. It stops after [MaxErrors] errors: the rules walk a fragment once for each operation and each other fragment that
// leads to it, and compare each unknown name with all names of the schema, which takes up to forty times as long as a valid document.
type Validator struct {
	schema *ast.Schema
	rules  []validator.Rule // by name, so that errors are in the same order each time
}

// NewValidator returns a validator for a schema. Its errors suggest names of the schema only if suggest is set.
func NewValidator(schema *ast.Schema, suggest bool) *Validator {
	all := rules.NewDefaultRules()
	if !suggest {
		withoutSuggestions(all)
	}
	v := &Validator{schema: schema}
	inner := all.GetInner()
	var values validator.Rule
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		rule := validator.Rule{Name: name, RuleFunc: inner[name]}
		if strings.HasPrefix(name, rules.ValuesOfCorrectTypeRule.Name) {
			values = rule // after the definitions of variables are forgotten
			continue
		}
		v.rules = append(v.rules, rule)
	}
	v.rules = append(v.rules, validator.Rule{Name: "Yield", RuleFunc: yield}, validator.Rule{Name: "ForgetVariables", RuleFunc: forgetVariables}, values,
		validator.Rule{Name: "CustomScalars", RuleFunc: customScalars})
	return v
}

func withoutSuggestions(all *rules.Rules) {
	for _, swap := range []struct{ suggesting, silent validator.Rule }{
		{rules.FieldsOnCorrectTypeRule, rules.FieldsOnCorrectTypeRuleWithoutSuggestions},
		{rules.KnownArgumentNamesRule, rules.KnownArgumentNamesRuleWithoutSuggestions},
		{rules.KnownTypeNamesRule, rules.KnownTypeNamesRuleWithoutSuggestions},
		{rules.ScalarLeafsRule, rules.ScalarLeafsRuleWithoutSuggestions},
		{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions},
	} {
		all.RemoveRule(swap.suggesting.Name)
		all.AddRule(swap.silent.Name, swap.silent.RuleFunc)
	}
}

// validatedAtOnce is how many fields are validated before others have the core.
const validatedAtOnce = 32

// yield is a rule without errors that leaves the core to others during a long validation.
func yield(observers *validator.Events, _ validator.AddErrFunc) {
	fields := 0
	observers.OnField(func(*validator.Walker, *ast.Field) {
		if fields++; fields%validatedAtOnce == 0 {
			netpoll.Yield()
		}
	})
}

// forgetVariables is a rule without errors, for the rules after it and for execution: it forgets which variable a value uses. The rule for values
// would evaluate the default value of the variable each time. Execution has the values of all variables, and the definitions of
// those in fragments would be those of the last operation, whichever one is executed.
func forgetVariables(observers *validator.Events, _ validator.AddErrFunc) {
	observers.OnValue(func(_ *validator.Walker, value *ast.Value) { value.VariableDefinition = nil })
}

// customScalars is the rule that the literals of custom scalars are strings, as all of those of the schema are. Otherwise a list of a
// thousand values would be evaluated for each object that has the argument, only to be refused.
func customScalars(observers *validator.Events, addError validator.AddErrFunc) {
	observers.OnValue(func(_ *validator.Walker, value *ast.Value) {
		if value.Definition == nil || value.Definition.Kind != ast.Scalar || value.Definition.BuiltIn || value.ExpectedType == nil || value.ExpectedType.Elem != nil {
			return
		}
		switch value.Kind {
		case ast.StringValue, ast.BlockValue, ast.Variable, ast.NullValue:
		default:
			addError(core.Message("A %s is a string.", value.Definition.Name), core.At(value.Position))
		}
	})
}

// enoughErrors is what a rule panics with when it adds the last error: the library has no other way to end its walk.
type enoughErrors struct{}

// Validate returns the first errors of a document. It adds to the document what the execution needs.
func (v *Validator) Validate(doc *ast.QueryDocument) (errs gqlerror.List) {
	defer func() {
		if reason := recover(); reason != nil && reason != (enoughErrors{}) {
			panic(reason)
		}
	}()
	observers := &validator.Events{}
	for _, rule := range v.rules {
		rule.RuleFunc(observers, func(options ...validator.ErrorOption) {
			err := &gqlerror.Error{Rule: rule.Name}
			for _, set := range options {
				set(err)
			}
			errcode.Set(err, errcode.ValidationFailed)
			if errs = append(errs, err); len(errs) == MaxErrors {
				panic(enoughErrors{})
			}
		})
	}
	validator.Walk(v.schema, doc, observers)
	return errs
}
