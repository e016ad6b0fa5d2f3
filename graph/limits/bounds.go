package limits

import (
	"errors"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Bounds of a parsed document. Validation compares fields of the same name, see comparisons, and searches for similar names for each unknown one.
// Without bounds a few kilobytes could keep it busy for seconds.
const (
	maxOperations = 10
	maxSelections = 500
	maxNesting    = 20    // within one operation or fragment, inline fragments included
	maxValues     = 1_000 // of all variables; checking a list of ids costs as much as reading some
	maxConditions = 16    // different variables in @skip and @include; as many as an operation with plans may have
)

// ErrTooMany is the error of a response that resolves too many fields.
var ErrTooMany = retwis.Errorf(retwis.CodeTooComplex, "the response has more than 100000 fields that are looked up: request smaller pages or fewer fields")

// ErrTooLarge is the error of an operation that expands to more fields than can be planned.
var ErrTooLarge = retwis.Errorf(retwis.CodeTooComplex,
	"the operation selects too many fields, with all fragments expanded: spread fewer of them, or nest fewer lists")

// ErrNullCondition returns the error of an operation with a @skip or @include whose variable is null. Validation allows null if the variable has a
// default value.
func ErrNullCondition(variable string) error {
	return retwis.Errorf(retwis.CodeBadUserInput, "the variable $%s decides a @skip or @include, but is null: send true or false", variable)
}

// CheckVariables refuses variables that hold very many values, or a number out of bounds.
func CheckVariables(variables map[string]any) *gqlerror.Error {
	if cost.CountValues(variables, maxValues) > maxValues {
		return tooComplex("the variables contain too many values: the limit is %d", maxValues)
	}
	if hasUnusualNumber(variables) {
		return unusualNumberIn("variables", string(retwis.CodeBadUserInput))
	}
	return nil
}

// Parse parses the document, and refuses one that would be expensive to validate.
func (d *Document) Parse() (*ast.QueryDocument, *gqlerror.Error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: d.Text}, maxTokens)
	if err != nil {
		// The error has a position, which is to be that in the source.
		if _, inSource := parser.ParseQueryWithTokenLimit(&ast.Source{Input: d.Source}, maxTokens); inSource != nil {
			err = inSource
		}
		return nil, parseError(err)
	}
	return doc, checkDocument(doc)
}

// parseError adds a code to an error of the parser, which also reports documents with too many tokens.
func parseError(err error) *gqlerror.Error {
	shown, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		shown = gqlerror.Wrap(err)
	}
	code := errcode.ParseFailed
	if strings.HasPrefix(shown.Message, "exceeded ") {
		code = string(retwis.CodeTooComplex)
	}
	errcode.Set(shown, code)
	return shown
}

func checkDocument(doc *ast.QueryDocument) *gqlerror.Error {
	if len(doc.Operations) == 0 {
		err := gqlerror.Errorf("the document contains no operation")
		errcode.Set(err, errcode.ValidationFailed)
		return err
	}
	if n := len(doc.Operations); n > maxOperations {
		return tooComplex("the document has %d operations: the limit is %d", n, maxOperations)
	}
	shape := documentShape{conditions: map[string]bool{}}
	for _, operation := range doc.Operations {
		shape.add(operation.SelectionSet, 1)
	}
	for _, fragment := range doc.Fragments {
		shape.add(fragment.SelectionSet, 1)
	}
	switch {
	case shape.nesting > maxNesting:
		return tooComplex("the document nests %d selections: the limit is %d", shape.nesting, maxNesting)
	case shape.selections > maxSelections:
		return tooComplex("the document has %d selections: the limit is %d", shape.selections, maxSelections)
	case len(shape.conditions) > maxConditions:
		return tooComplex("the document has %d variables in @skip and @include: the limit is %d", len(shape.conditions), maxConditions)
	case comparisons(doc) > maxComparisons:
		return tooComplex("the document repeats the same fields too often, in one selection set or in fragments that are spread together")
	}
	return checkOperations(doc)
}

// documentShape describes a document as it is written, without following its fragments.
type documentShape struct {
	selections int
	nesting    int
	conditions map[string]bool // variables in directives
}

// add adds a selection set. It goes no deeper than the document may.
func (s *documentShape) add(set ast.SelectionSet, nesting int) {
	s.selections += len(set)
	s.nesting = max(s.nesting, nesting)
	if s.nesting > maxNesting || s.selections > maxSelections {
		return
	}
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			s.condition(selection.Directives)
			if len(selection.SelectionSet) > 0 {
				s.add(selection.SelectionSet, nesting+1)
			}
		case *ast.InlineFragment:
			s.condition(selection.Directives)
			s.add(selection.SelectionSet, nesting+1)
		case *ast.FragmentSpread:
			s.condition(selection.Directives)
		}
	}
}

func (s *documentShape) condition(directives ast.DirectiveList) {
	for _, directive := range directives {
		for _, argument := range directive.Arguments {
			if argument.Value.Kind == ast.Variable {
				s.conditions[argument.Value.Raw] = true
			}
		}
	}
}

func tooComplex(format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	errcode.Set(err, string(retwis.CodeTooComplex))
	return err
}
