package graph

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Bounds of the cache of documents. Longer documents are parsed and validated each time.
const (
	cachedDocumentBytes = 32 << 20 // for all documents with their plans, about
	maxCachedText       = 16 << 10 // bytes of one document
)

// About how much memory is taken: see BenchmarkDocumentBytes.
const (
	bytesPerDocument  = 2 << 10
	bytesPerCharacter = 60  // of the parsed document, for each byte of its text
	bytesPerField     = 600 // of a plan
)

// documentCache keeps documents that were found valid, by their text, and how their
// operations are executed. What was not used for the longest time goes first.
type documentCache struct {
	maxBytes int

	mu     sync.Mutex
	byText map[string]*list.Element // of *document
	recent *list.List               // used last comes first
	bytes  int
}

var _ graphql.Cache[*ast.QueryDocument] = (*documentCache)(nil)

type document struct {
	text  string
	doc   *ast.QueryDocument
	bytes int // with the plans
	plans map[*ast.OperationDefinition]*plans
}

func newDocumentCache(maxBytes int) *documentCache {
	return &documentCache{maxBytes: maxBytes, byText: map[string]*list.Element{}, recent: list.New()}
}

// Get implements [graphql.Cache].
func (c *documentCache) Get(_ context.Context, text string) (*ast.QueryDocument, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byText[text]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(found)
	return found.Value.(*document).doc, true //nolint:forcetypeassert // nothing else is put there
}

// Add implements [graphql.Cache]. It keeps the document if it is short.
func (c *documentCache) Add(_ context.Context, text string, doc *ast.QueryDocument) {
	if len(text) > maxCachedText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byText[text]; ok {
		return // two requests came with it at once
	}
	d := &document{text: text, doc: doc, bytes: bytesPerDocument + bytesPerCharacter*len(text)}
	d.plans = make(map[*ast.OperationDefinition]*plans, len(doc.Operations))
	c.byText[text] = c.recent.PushFront(d)
	c.bytes += d.bytes
	c.forgetLocked()
}

func (c *documentCache) forgetLocked() {
	for c.bytes > c.maxBytes && c.recent.Len() > 0 {
		oldest := c.recent.Remove(c.recent.Back()).(*document) //nolint:forcetypeassert // as above
		delete(c.byText, oldest.text)
		c.bytes -= oldest.bytes
	}
}

// planOf returns the plan of an operation, or nil where it is left to gqlgen.
func (c *documentCache) planOf(op *graphql.OperationContext, by planner) *plan {
	d, known := c.plansOf(op)
	p, kept := known.get(op, by)
	if d != nil && kept > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if element, ok := c.byText[d.text]; ok && element.Value == d {
			d.bytes += kept
			c.bytes += kept
			c.forgetLocked()
		}
	}
	return p
}

// plansOf returns the plans of an operation, and the document they are kept with, if they
// are kept.
func (c *documentCache) plansOf(op *graphql.OperationContext) (*document, *plans) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byText[op.RawQuery]
	if !ok {
		return nil, newPlans(op)
	}
	d := element.Value.(*document) //nolint:forcetypeassert // as above
	if d.doc != op.Doc {
		return nil, newPlans(op) // two requests came with it at once
	}
	known := d.plans[op.Operation]
	if known == nil {
		known = newPlans(op)
		d.plans[op.Operation] = known
	}
	return d, known
}

// What is kept of one operation.
const (
	maxConditions = 16 // variables that @skip and @include read
	maxVariants   = 8  // of what they come out as
)

// plans are those of one operation, by what the variables of its @skip and @include are.
type plans struct {
	conditions []string

	mu       sync.Mutex
	variants map[uint]*plan // nil for what is left to gqlgen
}

func newPlans(op *graphql.OperationContext) *plans {
	found := conditions{fragments: map[*ast.FragmentDefinition]bool{}}
	found.selections(op.Operation.SelectionSet)
	return &plans{conditions: found.names, variants: map[uint]*plan{}}
}

// get returns the plan for a request, and about how many more bytes it has kept.
func (p *plans) get(op *graphql.OperationContext, by planner) (made *plan, kept int) {
	if len(p.conditions) > maxConditions {
		return nil, 0
	}
	variant := uint(0)
	for i, name := range p.conditions {
		value, ok := op.Variables[name].(bool)
		if !ok {
			return nil, 0 // gqlgen says what is wrong
		}
		if value {
			variant |= 1 << i
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.variants[variant]; ok {
		return known, 0
	}
	made, err := by.plan(op)
	if err != nil {
		made = nil
	}
	if len(p.variants) < maxVariants {
		p.variants[variant] = made
		if made != nil {
			kept = bytesPerField * made.fields
		}
	}
	return made, kept
}

// conditions finds the variables that decide what is selected.
type conditions struct {
	names     []string
	fragments map[*ast.FragmentDefinition]bool
}

func (c *conditions) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			c.directives(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			c.directives(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			c.directives(selection.Directives)
			if !c.fragments[selection.Definition] {
				c.fragments[selection.Definition] = true
				c.selections(selection.Definition.SelectionSet)
			}
		}
	}
}

func (c *conditions) directives(directives ast.DirectiveList) {
	for _, d := range directives {
		for _, argument := range d.Arguments {
			name := argument.Value.Raw
			if argument.Value.Kind == ast.Variable && !slices.Contains(c.names, name) {
				c.names = append(c.names, name)
			}
		}
	}
}
