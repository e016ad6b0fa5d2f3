package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
)

// oneShelf returns a shelf with two books by one author, and an empty place between them.
func oneShelf() *shelf {
	note := "signed\n"
	ann := &author{name: "Ann", born: 1950}
	one, two := &book{title: "One", author: ann, tags: []string{"a", "b"}}, &book{title: "Two", author: ann, note: &note}
	ann.books = []*book{one, two}
	s := &shelf{name: "S", books: []*book{one, nil, two}, first: one}
	one.shelf = s
	return s
}

func TestSchema_ExecutesQueries(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, query, want string }{
		{"plain fields, lists and nulls", `{ shelf { name books { title note tags } first { title } nested { name } } }`,
			`{"shelf": {"name": "S", "books": [{"title": "One", "note": null, "tags": ["a", "b"]}, null,
			{"title": "Two", "note": "signed\n", "tags": []}], "first": {"title": "One"}, "nested": []}}`},
		{"fields resolved below each other", `{ shelf { books { author { name born books { author { born } } } } } }`,
			`{"shelf": {"books": [{"author": {"name": "Ann", "born": 1950, "books": [{"author": {"born": 1950}}, {"author": {"born": 1950}}]}}, null,
			{"author": {"name": "Ann", "born": 1950, "books": [{"author": {"born": 1950}}, {"author": {"born": 1950}}]}}]}}`},
		{"aliases and typenames", `{ s: shelf(name: "x") { t: __typename books { x: author { name } y: author { name } } } }`,
			`{"s": {"t": "Shelf", "books": [{"x": {"name": "Ann"}, "y": {"name": "Ann"}}, null, {"x": {"name": "Ann"}, "y": {"name": "Ann"}}]}}`},
		{"an interface", `{ items { __typename title ... on Book { author { born } } ...M } } fragment M on Map { scale }`,
			`{"items": [{"__typename": "Book", "title": "One", "author": {"born": 1950}}, {"__typename": "Map", "title": "World", "scale": 3}]}`},
		{"skipped fields", `{ shelf { name @skip(if: true) first { title @include(if: false) note } } }`, `{"shelf": {"first": {"note": null}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(Hooks{})
			l.shelf = oneShelf()
			l.items = []any{l.shelf.first, &mapItem{"World", 3}}
			for range 2 { // the second execution reuses the plan and the buffers
				data, errs := l.run(t, tt.query, nil)
				wantData(t, data, tt.want)
				wantErrors(t, errs)
			}
			if slices.Contains(l.calls, "gqlgen") {
				t.Error("gqlgen executed the operation")
			}
		})
	}
}

func TestSchema_ExecutesMutationsInOrder(t *testing.T) {
	t.Parallel()
	begun := 0
	l := newLibrary(Hooks{Begin: func(context.Context, Flags) { begun++ }})
	data, errs := l.run(t, `mutation { a: lend(title: "1") { title author { name } } fail { title } b: lend(title: "2") { title } __typename }`, nil)
	wantData(t, data, `{"a": {"title": "1", "author": {"name": "A"}}, "fail": null, "b": {"title": "2"}, "__typename": "Mutation"}`)
	wantErrors(t, errs, "fail: refused")
	if diff := cmp.Diff([]string{"lend 1", "lend 2"}, l.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if begun != 3 {
		t.Errorf("Begin was called %d times, want once for each field", begun)
	}
}

func TestSchema_LeavesOperationsWithoutPlanToGqlgen(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	data, _ := l.run(t, `{ shelf { first { lentToMe } } }`, nil)
	wantData(t, data, `{"shelf": "gqlgen"}`)
}

// Attack: a field of introspection kept an operation from having a plan, so gqlgen resolved thousands of other fields at once.
func TestSchema_PlansFieldsBesideIntrospection(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	l.shelf = &shelf{name: "new"}
	data, errs := l.run(t, `{ a: __type(name: "Book") @include(if: true) { name } shelf { name } ...{ __schema { description } } a: __type(name: "Book") { kind } }`, nil)
	wantErrors(t, errs)
	wantData(t, data, `{"a": "gqlgen", "shelf": {"name": "new"}, "__schema": "gqlgen"}`)
	if diff := cmp.Diff([]string{"shelf<nil>", "gqlgen __type", "gqlgen __schema"}, l.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSchema_RefusesOperationsThatExpandToTooMuch(t *testing.T) {
	t.Parallel()
	chain := strings.Repeat("...{", 18) + "title" + strings.Repeat("}", 18)
	for name, query := range map[string]string{
		"lists between objects":   `{ shelf { nested { nested { nested { nested { books { author { name } } } } } } } }`,
		"fields":                  `{ ` + aliased("shelf { books { ...F } }", 101) + ` } fragment F on Book { ` + aliased("title", 100) + ` }`,
		"nested inline fragments": `{ ` + aliased("shelf { first { ...F } }", 30) + ` } fragment F on Book { ` + strings.Repeat(chain, 100) + ` }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planned := 0
			l := newLibrary(planHooks(func(n int) { planned += n }))
			for range 2 {
				data, errs := l.run(t, query, nil)
				wantData(t, data, `null`)
				wantErrors(t, errs, ": too large")
			}
			if len(l.calls) > 0 {
				t.Errorf("called %v, want no resolver", l.calls)
			}
			if planned > maxPlannedFields+maxVisits/VisitsPerField+1000 {
				t.Errorf("%d fields were planned, want the work to stop at the bound, and once", planned)
			}
		})
	}
}

// Attack: gqlgen executed such an operation without the bounds of a plan, and without a price for collecting its fields.
func TestSchema_RefusesConditionsThatAreNull(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{})
	data, errs := l.run(t, `query($v: Boolean = true) { shelf { first { title @include(if: $v) } } }`, map[string]any{"v": nil})
	wantData(t, data, `null`)
	wantErrors(t, errs, ": v is null")
	if len(l.calls) > 0 {
		t.Errorf("called %v, want nothing", l.calls)
	}
}

// aliased repeats a field with different aliases.
func aliased(field string, n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "a%d: %s ", i, field)
	}
	return all.String()
}

func TestSchema_ReportsFailures(t *testing.T) {
	t.Parallel()
	broken := func(context.Context, *book) (*author, error) { return nil, errors.New("no author") }
	tests := []struct {
		name    string
		prepare func(l *library)
		query   string
		want    string
		errs    []string
	}{
		{"an error of a resolver makes the field null", func(l *library) { l.author = broken },
			`{ shelf { first { title author { name } } } }`, `{"shelf": {"first": {"title": "One", "author": null}}}`,
			[]string{"shelf.first.author: no author"}},
		{"an error in a list has its index", func(l *library) { l.author = broken },
			`{ shelf { books { author { name } } } }`, `{"shelf": {"books": [{"author": null}, null, {"author": null}]}}`,
			[]string{"shelf.books[0].author: no author", "shelf.books[2].author: no author"}},
		{"a panic of a resolver is an error", func(l *library) {
			l.author = func(context.Context, *book) (*author, error) { panic("out of order") }
		}, `{ shelf { first { author { name } } } }`, `{"shelf": {"first": {"author": null}}}`,
			[]string{"shelf.first.author: panic: out of order"}},
		{"a panic of a plain field makes that field null", func(l *library) {
			l.note = func(*book) *string { panic("out of order") }
		}, `{ a: shelf { name } shelf { first { title note } } b: shelf { name } }`,
			`{"a": {"name": "S"}, "shelf": {"first": {"title": "One", "note": null}}, "b": {"name": "S"}}`,
			[]string{"shelf.first.note: panic: out of order"}},
		{"null for a non-null field makes its object null", func(l *library) { l.shelf.first = nil },
			`{ shelf { name first { title } } }`, `{"shelf": null}`,
			[]string{"shelf.first: the requested element is null which the schema does not allow"}},
		{"an error of a non-null field makes its object null", func(l *library) {
			l.born = func(context.Context, *author) (int, error) { return 0, errors.New("unknown") }
		}, `{ shelf { first { author { name born } } } }`, `{"shelf": {"first": {"author": null}}}`,
			[]string{"shelf.first.author.born: unknown"}},
		{"null in a list of non-null elements makes the list null", func(l *library) { l.shelf.first.author.books[1] = nil },
			`{ shelf { first { author { books { title } } } } }`, `{"shelf": {"first": {"author": null}}}`,
			[]string{"shelf.first.author.books[1]: the requested element is null which the schema does not allow"}},
		{"a non-null root field makes the data null", func(l *library) { l.items = []any{nil} },
			`{ items { title } }`, `null`,
			[]string{"items[0]: the requested element is null which the schema does not allow"}},
		{"a value of an unexpected type makes its list empty", func(l *library) { l.items = []any{&book{}, 7} },
			`{ items { title } }`, `{"items": []}`,
			[]string{"items[1]: panic: unexpected type int; non-generated variants of Item must implement graphql.Marshaler"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(Hooks{})
			l.shelf = oneShelf()
			tt.prepare(l)
			data, errs := l.run(t, tt.query, nil)
			wantData(t, data, tt.want)
			wantErrors(t, errs, tt.errs...)
		})
	}
}

func TestSchema_RunsInterceptors(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{Immediate: map[string]bool{"Author.born": true}})
	l.shelf = oneShelf()
	ctx, op := l.operation(t, `{ shelf { first { title author { born } } } x: shelf { name } }`, nil)
	var fields []string
	op.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		l.mu.Lock()
		fields = append(fields, fc.Path().String())
		l.mu.Unlock()
		return next(ctx)
	}
	op.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if graphql.GetRootFieldContext(ctx).Field.Alias == "x" {
			return graphql.MarshalString("replaced")
		}
		return next(ctx)
	}
	wantData(t, string(l.schema.Exec(ctx)(ctx).Data), `{"shelf": {"first": {"title": "One", "author": {"born": 1950}}}, "x": "replaced"}`)
	slices.Sort(fields)
	if diff := cmp.Diff([]string{"shelf", "shelf.first.author"}, fields); diff != "" {
		t.Errorf("fields seen by interceptors (-want +got):\n%s", diff)
	}
}

func TestSchema_RendersEvents(t *testing.T) {
	t.Parallel()
	const query = `subscription { e: events { title ... on Book { author { born } } } }`
	tests := []struct {
		name  string
		event any
		want  string
		errs  []string
	}{
		{"a book", oneShelf().first, `{"e": {"title": "One", "author": {"born": 1950}}}`, nil},
		{"a map", &mapItem{title: "World"}, `{"e": {"title": "World"}}`, nil},
		{"nothing", nil, `{"e": null}`, []string{"e: the requested element is null which the schema does not allow"}},
	}
	l := newLibrary(Hooks{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, op := l.operation(t, query, nil)
			plan := l.schema.Plan(ctx, op)
			if plan == nil {
				t.Fatal("the subscription has no plan")
			}
			field := graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})[0]
			ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: field})
			wantData(t, string(l.schema.Render(ctx, op, plan, tt.event).Data), tt.want)
			wantErrors(t, errorsOf(ctx), tt.errs...)
		})
	}
}
