package graph

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"retwis/internal/retwis"
)

// What an operation may ask for. The standard introspection query and a page of 100
// posts with everything about their authors stay well below.
const (
	maxDepth   = 15     // fields within fields; what a schema query nests is not counted
	maxAliases = 50     // fields under another name, as often as they are asked for
	maxCost    = 10_000 // about the number of fields in the largest answer
)

// What parts of an answer cost, next to the 1 of every field.
const (
	pageCost          = 10    // a page of a connection is a read of its own
	mutationCost      = 500   // a write, or the hash of a password
	schemaCost        = 1_000 // reading the schema is slow
	introspectionList = 4     // each list of an introspection query is taken to be this long
	mentionsPerPost   = 4     // many posts have none, a few have dozens
	sessionsPerViewer = 10    // 100 at most
)

// What a document may hold. Validation compares fields of the same name with each
// other, at every level of nested fragments anew, and looks for similar names for each
// unknown one: a few kilobytes of document could keep it busy for seconds.
const (
	maxTokens     = 2_000
	maxOperations = 20
	maxSelections = 500
	maxNesting    = 20     // within one operation or fragment, inline fragments included
	maxRepeats    = 10_000 // sum over all names of the square of their number
)

// documentLimits refuses documents that would be expensive to validate. It runs before
// the executor parses, and skips what the executor has accepted before.
type documentLimits struct {
	accepted graphql.Cache[*ast.QueryDocument]
}

func (documentLimits) ExtensionName() string                   { return "DocumentLimits" }
func (documentLimits) Validate(graphql.ExecutableSchema) error { return nil }

func (l documentLimits) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	if _, ok := l.accepted.Get(ctx, params.Query); ok {
		return nil
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, maxTokens)
	if err != nil {
		return unparsed(err)
	}
	return checkDocument(doc)
}

// unparsed is the error of a document that is not GraphQL, or too long.
func unparsed(err error) *gqlerror.Error {
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
	if n := len(doc.Operations); n > maxOperations {
		return tooComplex("the document holds %d operations: %d is the limit", n, maxOperations)
	}
	shape := documentShape{names: map[string]int{}}
	for _, operation := range doc.Operations {
		shape.add(operation.SelectionSet, 1)
	}
	for _, fragment := range doc.Fragments {
		shape.add(fragment.SelectionSet, 1)
	}
	repeats := 0
	for _, n := range shape.names {
		repeats += n * n
	}
	switch {
	case shape.nesting > maxNesting:
		return tooComplex("the document nests %d selections: %d is the limit", shape.nesting, maxNesting)
	case shape.selections > maxSelections:
		return tooComplex("the document holds %d selections: %d is the limit", shape.selections, maxSelections)
	case repeats > maxRepeats:
		return tooComplex("the document repeats the same fields too often")
	}
	return nil
}

// documentShape is what can be said of a document as it is written, without following
// its fragments.
type documentShape struct {
	selections int
	nesting    int
	names      map[string]int // how many fields answer to a name
}

func (s *documentShape) add(set ast.SelectionSet, nesting int) {
	s.selections += len(set)
	s.nesting = max(s.nesting, nesting)
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			s.names[selection.Alias]++
			if len(selection.SelectionSet) > 0 {
				s.add(selection.SelectionSet, nesting+1)
			}
		case *ast.InlineFragment:
			s.add(selection.SelectionSet, nesting+1)
		}
	}
}

// operationLimits refuses operations that ask for too much. It runs on valid documents.
type operationLimits struct{}

func (operationLimits) ExtensionName() string                   { return "OperationLimits" }
func (operationLimits) Validate(graphql.ExecutableSchema) error { return nil }

func (operationLimits) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	m := meter{variables: op.Variables, fragments: map[*ast.FragmentDefinition]measure{}}
	total := m.selections(op.Operation.SelectionSet)
	op.Stats.SetExtension(costKey, total.cost)
	switch {
	case total.depth > maxDepth:
		return tooComplex("the operation is %d fields deep: %d is the limit", total.depth, maxDepth)
	case total.aliases > maxAliases:
		return tooComplex("the operation uses more than %d aliases", maxAliases)
	case total.cost > maxCost:
		return tooComplex("the operation asks for too much: ask for smaller pages, or fewer fields")
	}
	return nil
}

// measure is what a set of selections asks for, fragments included.
type measure struct{ depth, aliases, cost int }

func (a measure) plus(b measure) measure {
	return measure{
		depth:   max(a.depth, b.depth),
		aliases: saturate(a.aliases + b.aliases),
		cost:    saturate(a.cost + b.cost),
	}
}

// saturate keeps sums and products of two from overflowing.
func saturate(n int) int { return min(n, math.MaxInt32) }

// meter measures the operation of a valid document. Each fragment is measured once,
// however often it is spread.
type meter struct {
	variables map[string]any
	fragments map[*ast.FragmentDefinition]measure
}

func (m meter) selections(set ast.SelectionSet) measure {
	var total measure
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total = total.plus(m.field(selection))
		case *ast.InlineFragment:
			total = total.plus(m.selections(selection.SelectionSet))
		case *ast.FragmentSpread:
			total = total.plus(m.fragment(selection.Definition))
		}
	}
	return total
}

func (m meter) fragment(fragment *ast.FragmentDefinition) measure {
	known, ok := m.fragments[fragment]
	if !ok {
		known = m.selections(fragment.SelectionSet)
		m.fragments[fragment] = known
	}
	return known
}

func (m meter) field(field *ast.Field) measure {
	children := m.selections(field.SelectionSet)
	total := measure{
		depth:   children.depth + 1,
		aliases: children.aliases,
		cost:    saturate(1 + m.elements(field)*children.cost),
	}
	if field.Alias != field.Name {
		total.aliases = saturate(total.aliases + 1)
	}
	switch {
	case field.ObjectDefinition.Name == "Mutation":
		total.cost = saturate(total.cost + mutationCost)
	case isConnection(field):
		total.cost = saturate(total.cost + pageCost)
	case field.Name == "__schema", field.Name == "__type":
		total.depth = 1 // validation bounds how deep these nest
		total.cost = saturate(total.cost + schemaCost)
	}
	return total
}

// elements returns how many times the children of a field may be in the answer.
func (m meter) elements(field *ast.Field) int {
	switch {
	case isConnection(field):
		for _, name := range []string{"first", "last"} {
			if size, ok := m.argument(field, name); ok {
				return number(size)
			}
		}
		return retwis.DefaultPageSize
	case field.Definition.Type.Elem == nil:
		return 1
	case field.Definition.Arguments.ForName("ids") != nil:
		ids, _ := m.argument(field, "ids")
		if list, ok := ids.([]any); ok {
			return min(len(list), maxNodes)
		}
		return 1
	case field.ObjectDefinition.Name == "Post" && field.Name == "mentions":
		return mentionsPerPost
	case field.ObjectDefinition.Name == "Viewer" && field.Name == "sessions":
		return sessionsPerViewer
	case field.ObjectDefinition.BuiltIn:
		return introspectionList
	}
	return 1 // edges, counted with their connection, and userErrors, few and small
}

// argument returns the value of an argument, unless it is left out or null.
func (m meter) argument(field *ast.Field, name string) (any, bool) {
	argument := field.Arguments.ForName(name)
	if argument == nil {
		return nil, false
	}
	value, err := argument.Value.Value(m.variables)
	return value, err == nil && value != nil
}

// number returns the size of a page. One that is out of bounds is refused when the
// field is resolved, so it counts as the largest that is not.
func number(v any) int {
	n := int64(retwis.MaxPageSize)
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case json.Number:
		if parsed, err := v.Int64(); err == nil {
			n = parsed
		}
	}
	if n < 1 || n > retwis.MaxPageSize {
		return retwis.MaxPageSize
	}
	return int(n)
}

// isConnection reports whether a field is read in pages, or has a first one only.
func isConnection(field *ast.Field) bool { return field.Definition.Arguments.ForName("first") != nil }

func tooComplex(format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	errcode.Set(err, string(retwis.CodeTooComplex))
	return err
}
