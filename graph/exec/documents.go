package exec

import (
	"container/list"
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// maxCachedText bounds the length of a cached document, in bytes. Longer documents are parsed and validated each time.
const maxCachedText = 16 << 10

// Estimates of the memory that a cached document takes: see BenchmarkDocumentCache.
const (
	bytesPerDocument  = 2 << 10
	bytesPerCharacter = 60  // of the parsed document, per byte of its text
	bytesPerField     = 600 // of a plan
)

// DocumentCache keeps valid documents by their text in normal form, and the plans of their operations. It evicts the
// least recently used. It also caches the last source text of each document, to skip normalisation.
type DocumentCache struct {
	maxBytes int

	mu       sync.Mutex
	byText   map[string]*list.Element // of *document
	bySource map[string]*list.Element
	recent   *list.List // the most recently used is first
	bytes    int
}

var _ graphql.Cache[*ast.QueryDocument] = (*DocumentCache)(nil)

type document struct {
	text   string
	source string // the form in which it was sent last; may be empty
	doc    *ast.QueryDocument
	bytes  int // with the plans
	plans  map[*ast.OperationDefinition]*plans
}

// NewDocumentCache returns a cache for documents that with their plans take about maxBytes.
func NewDocumentCache(maxBytes int) *DocumentCache {
	return &DocumentCache{maxBytes: maxBytes, byText: map[string]*list.Element{}, bySource: map[string]*list.Element{}, recent: list.New()}
}

// Find returns the normal form of a document that was sent in exactly this form before.
func (c *DocumentCache) Find(source string) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.bySource[source]
	if !ok {
		return "", false
	}
	return found.Value.(*document).text, true //nolint:forcetypeassert // the list holds nothing else
}

// Know records the source text of a cached document.
func (c *DocumentCache) Know(text, source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byText[text]
	if !ok || len(source) > maxCachedText {
		return
	}
	d := found.Value.(*document) //nolint:forcetypeassert // the list holds nothing else
	if d.source == source {
		return
	}
	delete(c.bySource, d.source)
	d.bytes += len(source) - len(d.source)
	c.bytes += len(source) - len(d.source)
	d.source = source
	c.bySource[source] = found
	c.evictLocked()
}

// Get implements [graphql.Cache].
func (c *DocumentCache) Get(_ context.Context, text string) (*ast.QueryDocument, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byText[text]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(found)
	return found.Value.(*document).doc, true //nolint:forcetypeassert // the list holds nothing else
}

// Add implements [graphql.Cache]. It ignores long documents.
func (c *DocumentCache) Add(_ context.Context, text string, doc *ast.QueryDocument) {
	if len(text) > maxCachedText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byText[text]; ok {
		return // two requests sent it at the same time
	}
	d := &document{text: text, doc: doc, bytes: bytesPerDocument + bytesPerCharacter*len(text)}
	d.plans = make(map[*ast.OperationDefinition]*plans, len(doc.Operations))
	c.byText[text] = c.recent.PushFront(d)
	c.bytes += d.bytes
	c.evictLocked()
}

func (c *DocumentCache) evictLocked() {
	for c.bytes > c.maxBytes && c.recent.Len() > 0 {
		oldest := c.recent.Remove(c.recent.Back()).(*document) //nolint:forcetypeassert // the list holds nothing else
		delete(c.byText, oldest.text)
		delete(c.bySource, oldest.source)
		c.bytes -= oldest.bytes
	}
}

// planOf returns the plan of an operation, or nil if it cannot have one.
func (c *DocumentCache) planOf(ctx context.Context, op *graphql.OperationContext, by *planner) *Plan {
	d, cached := c.plansOf(op)
	plan, kept := cached.get(ctx, op, by)
	if d != nil && kept != 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if element, ok := c.byText[d.text]; ok && element.Value == d {
			d.bytes += kept
			c.bytes += kept
			c.evictLocked()
		}
	}
	return plan
}

// plansOf returns the plans of an operation, and the cached document that holds them, if there is one.
func (c *DocumentCache) plansOf(op *graphql.OperationContext) (*document, *plans) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byText[op.RawQuery]
	if !ok {
		return nil, newPlans(op)
	}
	d := element.Value.(*document) //nolint:forcetypeassert // the list holds nothing else
	if d.doc != op.Doc {
		return nil, newPlans(op) // two requests sent the document at the same time
	}
	cached := d.plans[op.Operation]
	if cached == nil {
		cached = newPlans(op)
		d.plans[op.Operation] = cached
	}
	return d, cached
}
