package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// Bounds of the caches. Longer documents are parsed and validated each time.
const (
	cachedDocuments   = 512
	cachedPersisted   = 1024
	maxCachedDocument = 8 << 10 // bytes
)

// newDocumentCache returns a cache of documents that were found valid, by their text.
func newDocumentCache() graphql.Cache[*ast.QueryDocument] {
	return shortOnly[*ast.QueryDocument]{
		Cache:  lru.New[*ast.QueryDocument](cachedDocuments),
		length: func(query string, _ *ast.QueryDocument) int { return len(query) },
	}
}

// persistedQueries lets a client send the hash of a document in place of the document.
type persistedQueries struct {
	extension.AutomaticPersistedQuery
}

func newPersistedQueries() persistedQueries {
	return persistedQueries{extension.AutomaticPersistedQuery{Cache: shortOnly[string]{
		Cache:  lru.New[string](cachedPersisted),
		length: func(_, query string) int { return len(query) },
	}}}
}

// MutateOperationParameters finds or keeps the document. What is wrong with a hash is
// the client's mistake, which gqlgen leaves without a code.
func (p persistedQueries) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	err := p.AutomaticPersistedQuery.MutateOperationParameters(ctx, params)
	if err != nil && err.Extensions["code"] == nil {
		errcode.Set(err, string(retwis.CodeBadUserInput))
	}
	return err
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
