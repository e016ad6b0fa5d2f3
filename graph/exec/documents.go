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

// DocumentSize returns about how many bytes a parsed document takes, without plans.
func DocumentSize(text string) int { return bytesPerDocument + bytesPerCharacter*len(text) }

// DocumentCache keeps valid documents by their text in normal form, and the plans of their operations. It evicts the
// least recently used. It also caches the last source text of each document, to skip normalisation. The documents that one holder has added take
// half of it at most, so that nobody can evict those of all others.
type DocumentCache struct {
	maxBytes int
	holderOf func(context.Context) any // who sends a document; comparable

	mu       sync.Mutex
	held     map[any]int              // bytes by holder
	byText   map[string]*list.Element // of *document
	bySource map[string]*list.Element
	recent   *list.List // the most recently used is first
	bytes    int
}

var _ graphql.Cache[*ast.QueryDocument] = (*DocumentCache)(nil)

type document struct {
	holder any
	text   string
	source string // the form in which it was sent last; may be empty
	doc    *ast.QueryDocument
	bytes  int // with the plans
	plans  map[*ast.OperationDefinition]*plans
}

// NewDocumentCache returns a cache for documents that with their plans take about maxBytes. The context of a request tells who sends a document.
func NewDocumentCache(maxBytes int, holderOf func(context.Context) any) *DocumentCache {
	return &DocumentCache{maxBytes: maxBytes, holderOf: holderOf, held: map[any]int{}, byText: map[string]*list.Element{}, bySource: map[string]*list.Element{}, recent: list.New()}
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
	grown := len(source) - len(d.source)
	d.source = source
	c.bySource[source] = found
	c.growLocked(d, grown)
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
func (c *DocumentCache) Add(ctx context.Context, text string, doc *ast.QueryDocument) {
	if len(text) > maxCachedText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byText[text]; ok {
		return // two requests sent it at the same time
	}
	d := &document{holder: c.holderOf(ctx), text: text, doc: doc, plans: make(map[*ast.OperationDefinition]*plans, len(doc.Operations))}
	c.byText[text] = c.recent.PushFront(d)
	c.growLocked(d, DocumentSize(text))
}

// growLocked adds the bytes that a cached document takes now, and evicts the oldest of its holder while that has more than its share, or the oldest
// of all.
func (c *DocumentCache) growLocked(d *document, bytes int) {
	d.bytes += bytes
	c.bytes += bytes
	c.held[d.holder] += bytes
	for oldest := c.recent.Back(); oldest != nil && (c.bytes > c.maxBytes || c.held[d.holder] > c.maxBytes/2); {
		candidate := oldest
		oldest = oldest.Prev()
		if c.bytes > c.maxBytes || candidate.Value.(*document).holder == d.holder { //nolint:forcetypeassert // the list holds nothing else
			c.evictLocked(candidate)
		}
	}
}

func (c *DocumentCache) evictLocked(element *list.Element) {
	d := c.recent.Remove(element).(*document) //nolint:forcetypeassert // the list holds nothing else
	delete(c.byText, d.text)
	delete(c.bySource, d.source)
	c.bytes -= d.bytes
	if c.held[d.holder] -= d.bytes; c.held[d.holder] == 0 {
		delete(c.held, d.holder)
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
			c.growLocked(d, kept)
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
