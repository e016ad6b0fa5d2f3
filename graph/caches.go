package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
)

// Bounds of the caches. Longer documents are parsed and validated each time.
const (
	cachedDocuments   = 512
	maxCachedDocument = 8 << 10 // bytes
)

// newDocumentCache returns a cache of documents that were found valid, by their text.
func newDocumentCache() graphql.Cache[*ast.QueryDocument] {
	return shortOnly[*ast.QueryDocument]{
		Cache:  lru.New[*ast.QueryDocument](cachedDocuments),
		length: func(query string, _ *ast.QueryDocument) int { return len(query) },
	}
}

// shortOnly is a cache that does not keep long documents, so that its bound in entries
// is a bound in memory.
type shortOnly[T any] struct {
	graphql.Cache[T]
	length func(key string, value T) int
}

// Add keeps the value if the document is short.
func (c shortOnly[T]) Add(ctx context.Context, key string, value T) {
	if c.length(key, value) <= maxCachedDocument {
		c.Cache.Add(ctx, key, value)
	}
}
