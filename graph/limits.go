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
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"

	"retwis/internal/retwis"
)

// What an operation may ask for. The standard introspection query and a page of 100
// posts with everything about their authors stay well below.
const (
	maxDepth      = 15     // fields within fields; what a schema query nests is not counted
	maxRootFields = 30     // as often as they are asked for, like those below
	maxAliases    = 50     // fields under another name
	maxDirectives = 50     // on the operation, its fields and fragments
	maxCost       = 10_000 // about the number of fields in the largest answer
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
	maxName       = 64 // bytes; of names that are not known, similar ones are looked for
	maxOperations = 20
	maxSelections = 500
	maxNesting    = 20     // within one operation or fragment, inline fragments included
	maxValues     = 1_000  // of all variables; checking a list of ids costs as much as reading some
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
	if countValues(params.Variables, maxValues) > maxValues {
		return tooComplex("the variables hold too many values: %d is the limit", maxValues)
	}
	if _, ok := l.accepted.Get(ctx, params.Query); ok {
		return nil
	}
	_, err := parseDocument(params.Query)
	return err
}

// parseDocument parses a document of a client, unless it would be expensive to validate.
func parseDocument(query string) (*ast.QueryDocument, *gqlerror.Error) {
	source := &ast.Source{Input: query}
	if err := checkNames(source); err != nil {
		return nil, err
	}
	doc, err := parser.ParseQueryWithTokenLimit(source, maxTokens)
	if err != nil {
		return nil, unparsed(err)
	}
	return doc, checkDocument(doc)
}

// checkNames refuses documents with names that nobody gives. What cannot be read at all is
// left to the parser.
func checkNames(source *ast.Source) *gqlerror.Error {
	words := lexer.New(source)
	for tokens := 0; tokens <= maxTokens; tokens++ {
		token, err := words.ReadToken()
		switch {
		case token.Kind == lexer.Comment:
			tokens-- // the parser does not count them either
		case err != nil, token.Kind == lexer.EOF:
			return nil //nolint:nilerr // the parser says it with a place
		case token.Kind == lexer.Name && len(token.Value) > maxName:
			return tooComplex("a name in the document has %d bytes: %d is the limit", len(token.Value), maxName)
		}
	}
	return nil
}

// countValues returns how many values a variable holds, itself included, or what is more
// than the limit.
func countValues(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if n += countValues(value, limit-n); n > limit {
				break
			}
		}
	case []any:
		for _, value := range v {
			if n += countValues(value, limit-n); n > limit {
				break
			}
		}
	}
	return n
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
	return checkOperations(doc)
}

// checkOperations refuses operations that ask for too much whatever their variables are.
// It follows fragments, in a document that may be invalid.
func checkOperations(doc *ast.QueryDocument) *gqlerror.Error {
	s := survey{fragments: doc.Fragments, known: map[string]measure{}}
	for _, operation := range doc.Operations {
		total := s.selections(operation.SelectionSet)
		total.directives = saturate(total.directives + len(operation.Directives))
		switch {
		case total.depth > maxDepth:
			return tooComplex("the operation is %d fields deep: %d is the limit", total.depth, maxDepth)
		case total.roots > maxRootFields:
			return tooComplex("the operation selects more than %d fields at its root", maxRootFields)
		case total.aliases > maxAliases:
			return tooComplex("the operation uses more than %d aliases", maxAliases)
		case total.directives > maxDirectives:
			return tooComplex("the operation uses more than %d directives", maxDirectives)
		}
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

// measure is what a set of selections asks for, fragments included.
type measure struct {
	depth      int
	roots      int // fields of the set itself
	aliases    int
	directives int
}

func (a measure) plus(b measure) measure {
	return measure{
		depth:      max(a.depth, b.depth),
		roots:      saturate(a.roots + b.roots),
		aliases:    saturate(a.aliases + b.aliases),
		directives: saturate(a.directives + b.directives),
	}
}

// survey measures operations. Each fragment is measured once, however often it is spread.
type survey struct {
	fragments ast.FragmentDefinitionList
	known     map[string]measure
}

func (s survey) selections(set ast.SelectionSet) measure {
	var total measure
	for _, selection := range set {
		var m measure
		switch selection := selection.(type) {
		case *ast.Field:
			m = s.field(selection)
		case *ast.InlineFragment:
			m = s.selections(selection.SelectionSet)
			m.directives = saturate(m.directives + len(selection.Directives))
		case *ast.FragmentSpread:
			m = s.fragment(selection.Name)
			m.directives = saturate(m.directives + len(selection.Directives))
		}
		total = total.plus(m)
	}
	return total
}

func (s survey) field(field *ast.Field) measure {
	m := s.selections(field.SelectionSet)
	m.depth, m.roots = m.depth+1, 1
	m.directives = saturate(m.directives + len(field.Directives))
	if field.Alias != field.Name {
		m.aliases = saturate(m.aliases + 1)
	}
	if field.Name == "__schema" || field.Name == "__type" {
		m.depth = 1 // validation bounds how deep these nest
	}
	return m
}

// fragment measures a fragment. One that spreads itself counts as nothing where it does:
// validation refuses it.
func (s survey) fragment(name string) measure {
	if m, ok := s.known[name]; ok {
		return m
	}
	s.known[name] = measure{}
	definition := s.fragments.ForName(name)
	if definition == nil {
		return measure{}
	}
	m := s.selections(definition.SelectionSet)
	m.directives = saturate(m.directives + len(definition.Directives))
	s.known[name] = m
	return m
}

// operationLimits refuses operations that cost too much. It runs on valid documents.
type operationLimits struct{}

func (operationLimits) ExtensionName() string                   { return "OperationLimits" }
func (operationLimits) Validate(graphql.ExecutableSchema) error { return nil }

func (operationLimits) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	m := meter{variables: op.Variables, fragments: map[*ast.FragmentDefinition]int{}}
	cost := m.selections(op.Operation.SelectionSet)
	op.Stats.SetExtension(costKey, cost)
	if cost > maxCost {
		return tooComplex("the operation asks for too much: it costs more than %d; ask for smaller pages, or fewer fields", maxCost)
	}
	return nil
}

// saturate keeps sums and products of two from overflowing.
func saturate(n int) int { return min(n, math.MaxInt32) }

// meter counts the cost of the operation of a valid document. Each fragment is counted
// once, however often it is spread.
type meter struct {
	variables map[string]any
	fragments map[*ast.FragmentDefinition]int
}

func (m meter) selections(set ast.SelectionSet) int {
	total := 0
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total += m.field(selection)
		case *ast.InlineFragment:
			total += m.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			total += m.fragment(selection.Definition)
		}
		total = saturate(total)
	}
	return total
}

func (m meter) fragment(fragment *ast.FragmentDefinition) int {
	known, ok := m.fragments[fragment]
	if !ok {
		known = m.selections(fragment.SelectionSet)
		m.fragments[fragment] = known
	}
	return known
}

func (m meter) field(field *ast.Field) int {
	cost := saturate(1 + m.elements(field)*m.selections(field.SelectionSet))
	switch {
	case field.ObjectDefinition.Name == "Mutation":
		cost += mutationCost
	case isConnection(field):
		cost += pageCost
	case field.Name == "__schema", field.Name == "__type":
		cost += schemaCost
	}
	return saturate(cost)
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
