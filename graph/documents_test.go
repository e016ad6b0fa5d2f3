package graph

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

func TestDocumentsAreKeptWithinBytes(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	cache := a.executor.planned.documents
	cache.maxBytes = 1 << 20
	for i := range 400 {
		response := a.run(t.Context(), documentNumber(i), "")
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		if cache.bytes > cache.maxBytes {
			t.Fatalf("the cache takes itself to hold %d bytes: %d is the limit", cache.bytes, cache.maxBytes)
		}
	}
	if n := cache.recent.Len(); n == 0 || n == 400 || n != len(cache.byText) {
		t.Errorf("%d documents are kept, %d can be found", n, len(cache.byText))
	}
	if _, ok := cache.Get(t.Context(), documentNumber(399)); !ok {
		t.Error("the last document is not kept")
	}
	if _, ok := cache.Get(t.Context(), documentNumber(0)); ok {
		t.Error("the first document is still kept")
	}
}

func documentNumber(i int) string {
	return fmt.Sprintf(`query($w: Boolean = true) { publicTimeline { a%d: posts(first: 3) {
		edges { cursor node { id text createdAt author { id username displayName bio } mentions { id } } }
		pageInfo { hasNextPage endCursor } liveCursor @include(if: $w) } } newestUsers { edges { node { id username } } } }`, i)
}

func TestLongDocumentsAreNotKept(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	long := "{ __typename } # " + strings.Repeat("x", maxCachedText)
	wantData(t, a.run(t.Context(), long, ""), `{"__typename": "Query"}`)
	if n := a.executor.planned.documents.recent.Len(); n != 0 {
		t.Errorf("%d documents are kept", n)
	}
}

// BenchmarkDocumentBytes tells how much memory documents with plans take next to what
// the cache takes them for.
func BenchmarkDocumentBytes(b *testing.B) {
	a := newAPI(Options{})
	cache := a.executor.planned.documents
	cache.maxBytes = 1 << 40
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, n := heap(), 0
	for b.Loop() {
		ctx := graphql.StartOperationTrace(b.Context())
		op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: documentNumber(n)})
		if len(errs) > 0 {
			b.Fatal(errs)
		}
		a.executor.planned.planOf(op)
		n++
	}
	b.ReportMetric(float64(heap()-before)/float64(n), "bytes/document")
	b.ReportMetric(float64(cache.bytes)/float64(n), "counted/document")
	runtime.KeepAlive(cache)
}
