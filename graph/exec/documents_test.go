package exec

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// documentNumber returns different documents of the same size.
func documentNumber(i int) string {
	return fmt.Sprintf(`query($w: Boolean = true) { a%d: shelf(name: "a shelf") { name
		books { title note tags author { name born books { title } } shelf { name first { title } } }
		first { title note author { name } } nested { name @include(if: $w) } } items { title ... on Book { note tags } } }`, i)
}

func TestDocumentCache_StaysWithinItsBytes(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	cache := l.documents
	for i := range 400 {
		_, op := l.operation(t, documentNumber(i), nil)
		if l.schema.Plan(t.Context(), op) == nil {
			t.Fatal("the operation has no plan")
		}
		if cache.bytes > cache.maxBytes {
			t.Fatalf("the cache counts %d bytes: %d is the limit", cache.bytes, cache.maxBytes)
		}
	}
	if n := cache.recent.Len(); n == 0 || n == 400 || n != len(cache.byText) {
		t.Errorf("%d documents are cached, %d are found by their text", n, len(cache.byText))
	}
	if _, ok := cache.Get(t.Context(), documentNumber(399)); !ok {
		t.Error("the last document is not cached")
	}
	if _, ok := cache.Get(t.Context(), documentNumber(0)); ok {
		t.Error("the first document is still cached")
	}
}

func TestDocumentCache_EvictsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	used := documentNumber(0)
	for i := range 400 {
		_, _ = l.operation(t, documentNumber(i), nil)
		if _, ok := l.documents.Get(t.Context(), used); !ok {
			t.Fatalf("a document in use was evicted after %d others", i)
		}
	}
}

// Attack: one address sent so many documents that those of all others were evicted, and waited for validation again.
func TestDocumentCache_LeavesHalfToOtherHolders(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	cache := l.documents
	of := func(holder any) context.Context { return context.WithValue(t.Context(), holderKey{}, holder) }
	add := func(holder any, i int) {
		cache.Add(of(holder), documentNumber(i), &ast.QueryDocument{})
		cache.Know(documentNumber(i), " "+documentNumber(i))
	}
	add("other", 0)
	for i := 1; i < 400; i++ {
		add("heavy", i)
		if cache.held["heavy"] > cache.maxBytes/2 || cache.bytes != cache.held["heavy"]+cache.held["other"] {
			t.Fatalf("%d bytes are cached, by holder %v", cache.bytes, cache.held)
		}
	}
	if _, known := cache.Find(" " + documentNumber(0)); !known {
		t.Error("the document of another holder was evicted")
	}
	if _, known := cache.Find(" " + documentNumber(1)); known {
		t.Error("the oldest document of the heavy holder is still cached")
	}
	for holder := range 400 {
		add(holder, 400+holder)
	}
	if cache.bytes > cache.maxBytes || len(cache.held) != cache.recent.Len() {
		t.Errorf("%d bytes of %d documents are cached, of %d holders", cache.bytes, cache.recent.Len(), len(cache.held))
	}
}

func TestDocumentCache_IgnoresLongDocuments(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	data, _ := l.run(t, "{ __typename } # "+strings.Repeat("x", maxCachedText), nil)
	wantData(t, data, `{"__typename": "Query"}`)
	if n := l.documents.recent.Len(); n != 0 {
		t.Errorf("%d documents are cached", n)
	}
}

func TestDocumentCache_KeepsAPlanForEachCombinationOfConditions(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	l.shelf = oneShelf()
	const query = `query($a: Boolean!, $b: Boolean!) { shelf { name @include(if: $a) first @skip(if: $b) { title } t: __typename } }`
	for range 2 {
		for variables, want := range map[[2]bool]string{
			{true, true}:   `{"shelf": {"name": "S", "t": "Shelf"}}`,
			{true, false}:  `{"shelf": {"name": "S", "first": {"title": "One"}, "t": "Shelf"}}`,
			{false, true}:  `{"shelf": {"t": "Shelf"}}`,
			{false, false}: `{"shelf": {"first": {"title": "One"}, "t": "Shelf"}}`,
		} {
			data, errs := l.run(t, query, map[string]any{"a": variables[0], "b": variables[1]})
			wantData(t, data, want)
			wantErrors(t, errs)
		}
	}
	_, op := l.operation(t, query, map[string]any{"a": true, "b": true})
	if _, cached := l.documents.plansOf(op); len(cached.variants) != 4 {
		t.Errorf("%d plans are cached, want 4", len(cached.variants))
	}
}

// More combinations of conditions than are kept cost their plans again, and do not fill the cache.
func TestDocumentCache_ReportsEachPlanThatIsMade(t *testing.T) {
	t.Parallel()
	made, fields := 0, 0
	l := newLibrary(planHooks(func(n int) { made, fields = made+1, max(fields, n) }))
	l.shelf = oneShelf()
	const query = `query($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) {
		a: shelf @include(if: $a) { name } b: shelf @include(if: $b) { name } c: shelf @include(if: $c) { name } d: shelf @include(if: $d) { name }
		shelf { name first { title } } }`
	run := func(variant int) {
		variables := map[string]any{}
		for i, name := range []string{"a", "b", "c", "d"} {
			variables[name] = variant>>i&1 == 1
		}
		_, errs := l.run(t, query, variables)
		wantErrors(t, errs)
	}
	bytes := 0
	for round := range 3 {
		for variant := range 1 << 4 {
			run(variant)
			if last := made; round > 0 {
				run(variant)
				if made != last {
					t.Errorf("variant %d: the plan that was made last is not kept", variant)
				}
			}
		}
		if fields != 12+12/VisitsPerField {
			t.Errorf("the largest plan has %d fields and fifths of visits, want 14", fields)
		}
		_, op := l.operation(t, query, map[string]any{"a": true, "b": true, "c": true, "d": true})
		d, cached := l.documents.plansOf(op)
		total := 0
		for _, plan := range cached.variants {
			total += plan.bytes()
		}
		if len(cached.variants) != maxVariants || round > 0 && d.bytes-total != bytes {
			t.Errorf("%d plans are cached, and %d bytes besides them, want %d and %d", len(cached.variants), d.bytes-total, maxVariants, bytes)
		}
		bytes = d.bytes - total
	}
	if made < 2*(1<<4-maxVariants) {
		t.Errorf("only %d plans were reported", made)
	}
}

// BenchmarkDocumentCache reports the memory of documents with their plans, beside what the cache counts.
func BenchmarkDocumentCache(b *testing.B) {
	l := newLibrary(Hooks{})
	l.documents.maxBytes = 1 << 40
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, n := heap(), 0
	for b.Loop() {
		_, op := l.operation(b, documentNumber(n), nil)
		l.schema.Plan(b.Context(), op)
		n++
	}
	b.ReportMetric(float64(heap()-before)/float64(n), "bytes/document")
	b.ReportMetric(float64(l.documents.bytes)/float64(n), "counted/document")
	runtime.KeepAlive(l)
}
