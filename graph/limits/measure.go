package limits

import (
	"math"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Bounds of an operation, whatever its variables. The standard introspection query and a page of 100 posts with
// everything about their authors stay well below.
const (
	maxDepth      = 15 // nested fields, without those of introspection
	maxRootFields = 30 // a fragment counts each time that it is spread, here and below
	maxAliases    = 50 // fields under another name
	maxDirectives = 50 // on the operation, its fields and fragments
	maxLevels     = 20 // of nested fragments between two fields, inline ones included: planning searches their fields again at each level
)

// checkOperations refuses operations that exceed a bound, and fragments with too many levels. It follows fragments. The document may be invalid.
func checkOperations(doc *ast.QueryDocument) *gqlerror.Error {
	m := measurer{fragments: doc.Fragments, known: map[string]measure{}}
	for _, operation := range doc.Operations {
		total := m.selections(operation.SelectionSet)
		total.directives = saturate(total.directives + len(operation.Directives))
		switch {
		case total.depth > maxDepth:
			return tooComplex("the operation is %d fields deep: the limit is %d", total.depth, maxDepth)
		case total.roots > maxRootFields:
			return tooComplex("the operation selects more than %d fields at its root", maxRootFields)
		case total.aliases > maxAliases:
			return tooComplex("the operation uses more than %d aliases", maxAliases)
		case total.directives > maxDirectives:
			return tooComplex("the operation uses more than %d directives", maxDirectives)
		case total.deepest > maxLevels:
			return tooManyLevels(total)
		}
	}
	for _, fragment := range doc.Fragments {
		if size := m.fragment(fragment.Name); size.deepest > maxLevels {
			return tooManyLevels(size)
		}
	}
	return nil
}

func tooManyLevels(size measure) *gqlerror.Error {
	return tooComplex("the document nests %d fragments without a field between them: the limit is %d", size.deepest, maxLevels)
}

// measure is the size of a selection set, fragments included.
type measure struct {
	depth      int
	roots      int // fields of the set itself
	aliases    int
	directives int
	levels     int // of nested fragments in the set itself, above its fields
	deepest    int // levels of any set
}

// inFragment returns the size of a fragment with the selection set that has been measured.
func (a measure) inFragment(directives ast.DirectiveList) measure {
	a.levels++
	a.deepest = max(a.deepest, a.levels)
	a.directives = saturate(a.directives + len(directives))
	return a
}

func (a measure) plus(b measure) measure {
	return measure{
		depth:      max(a.depth, b.depth),
		roots:      saturate(a.roots + b.roots),
		aliases:    saturate(a.aliases + b.aliases),
		directives: saturate(a.directives + b.directives),
		levels:     max(a.levels, b.levels),
		deepest:    max(a.deepest, b.deepest),
	}
}

// measurer measures the operations of a document. It visits each fragment once, however often it is spread.
type measurer struct {
	fragments ast.FragmentDefinitionList
	known     map[string]measure
}

func (m measurer) selections(set ast.SelectionSet) measure {
	var total measure
	for _, selection := range set {
		var size measure
		switch selection := selection.(type) {
		case *ast.Field:
			size = m.field(selection)
		case *ast.InlineFragment:
			size = m.selections(selection.SelectionSet).inFragment(selection.Directives)
		case *ast.FragmentSpread:
			size = m.fragment(selection.Name).inFragment(selection.Directives)
		}
		total = total.plus(size)
	}
	return total
}

func (m measurer) field(field *ast.Field) measure {
	size := m.selections(field.SelectionSet)
	size.depth, size.roots, size.levels = size.depth+1, 1, 0
	size.directives = saturate(size.directives + len(field.Directives))
	if field.Alias != field.Name {
		size.aliases = saturate(size.aliases + 1)
	}
	if field.Name == "__schema" || field.Name == "__type" {
		size.depth = 1 // validation bounds the depth of introspection
	}
	return size
}

// fragment measures a fragment. A fragment that spreads itself counts as empty there, because validation refuses it.
func (m measurer) fragment(name string) measure {
	if size, ok := m.known[name]; ok {
		return size
	}
	m.known[name] = measure{}
	definition := m.fragments.ForName(name)
	if definition == nil {
		return measure{}
	}
	size := m.selections(definition.SelectionSet)
	size.directives = saturate(size.directives + len(definition.Directives))
	m.known[name] = size
	return size
}

// saturate keeps sums, and products of two, from overflowing.
func saturate(n int) int { return min(n, math.MaxInt32) }
