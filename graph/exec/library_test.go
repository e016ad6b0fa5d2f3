package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// The tests of this package execute operations of a small schema, whose table of types is written by hand.
const librarySchema = `
	directive @perReader on FIELD_DEFINITION

	type Query { shelf(name: String): Shelf, items: [Item!]! }
	type Mutation { lend(title: String): Book, fail: Book }
	type Subscription { events(of: ID, after: String): Item! }

	interface Item { title: String!, available: Boolean! }
	type Book implements Item { title: String!, available: Boolean! @perReader, note: String, tags: [String!]!, author: Author, shelf: Shelf, lentToMe: Boolean! @perReader }
	type Map implements Item { title: String!, available: Boolean!, scale: Int }
	type Author { name: String!, books: [Book!]!, born(calendar: Int): Int! }
	type Shelf { name: String!, books: [Book], first: Book!, nested: [Shelf!]! }
`

type book struct {
	title  string
	note   *string
	tags   []string
	author *author
	shelf  *shelf
}

type mapItem struct {
	title string
	scale int
}

type author struct {
	name  string
	books []*book
	born  int
}

type shelf struct {
	name   string
	books  []*book
	first  *book
	nested []*shelf
}

// library resolves the fields of the schema and records the calls. Its functions may be replaced.
type library struct {
	shelf  *shelf
	items  []any
	author func(ctx context.Context, b *book) (*author, error)
	born   func(ctx context.Context, a *author) (int, error)
	note   func(b *book) *string
	hooks  Hooks

	mu    sync.Mutex
	calls []string

	schema    *Schema
	documents *DocumentCache
	ast       *ast.Schema
}

func newLibrary(hooks Hooks) *library {
	l := &library{hooks: hooks, documents: NewDocumentCache(2<<20, func(ctx context.Context) any { return ctx.Value(holderKey{}) })}
	l.ast = gqlparser.MustLoadSchema(&ast.Source{Name: "library", Input: librarySchema})
	l.author = func(_ context.Context, b *book) (*author, error) { return b.author, nil }
	l.born = func(_ context.Context, a *author) (int, error) { return a.born, nil }
	l.note = func(b *book) *string { return b.note }
	l.schema = NewSchema(Config{
		Generated:  stubSchema{l.ast, l},
		Types:      l.types(),
		NewContext: func(op *graphql.OperationContext) any { return op },
		Hooks:      hooks,
		Documents:  l.documents,
		TooLarge:   errors.New("too large"),
		TooMany:    errors.New("too many"),

		NullCondition: func(variable string) error { return errors.New(variable + " is null") },
	})
	return l
}

func (l *library) called(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
}

// stubSchema stands for gqlgen's generated code.
type stubSchema struct {
	schema *ast.Schema
	l      *library
}

func (s stubSchema) Schema() *ast.Schema { return s.schema }

func (s stubSchema) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec returns data that names the fields that it received.
func (s stubSchema) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	var data []byte
	for i, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
		s.l.called("gqlgen " + field.Name)
		data = fmt.Appendf(data, `%c"%s":"gqlgen"`, "{,"[min(i, 1)], field.Alias)
	}
	return graphql.OneShot(&graphql.Response{Data: append(data, '}')})
}

// resolvedField returns a field that resolve resolves.
func resolvedField(f FieldType, resolve func(ctx context.Context, x any, args map[string]any) (any, error)) *FieldType {
	f.Prepare = func(_ context.Context, generated any, field graphql.CollectedField) (*graphql.FieldContext, error) {
		return &graphql.FieldContext{
			Object: field.ObjectDefinition.Name, Field: field,
			Args: field.ArgumentMap(generated.(*graphql.OperationContext).Variables),
		}, nil
	}
	f.Resolve = func(ctx context.Context, x any, fc *graphql.FieldContext) (any, error) {
		var args map[string]any
		if fc != nil {
			args = fc.Args
		}
		return resolve(ctx, x, args)
	}
	return &f
}

func stringField(get func(x any) string) *FieldType {
	return &FieldType{NonNull: true, Leaf: func(b []byte, x any) []byte { return AppendString(b, get(x)) }}
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return p
}

func (l *library) types() map[string]*ObjectType {
	object := func(name string, interfaces ...string) *ObjectType {
		return &ObjectType{Name: name, Satisfies: append([]string{name}, interfaces...), Fields: map[string]*FieldType{}}
	}
	query, mutation, subscription := object("Query"), object("Mutation"), object("Subscription")
	books, maps, authors, shelves := object("Book", "Item"), object("Map", "Item"), object("Author"), object("Shelf")
	concrete := func(v any) (*ObjectType, any) {
		switch v := v.(type) {
		case *book:
			return books, orNil(v)
		case *mapItem:
			return maps, orNil(v)
		default:
			return nil, v
		}
	}
	query.Fields["shelf"] = resolvedField(FieldType{Object: shelves}, func(_ context.Context, _ any, args map[string]any) (any, error) {
		l.called(fmt.Sprint("shelf", args["name"]))
		return orNil(l.shelf), nil
	})
	query.Fields["items"] = resolvedField(FieldType{
		NonNull: true, ElemNonNull: true, Concrete: concrete,
		Len: func(x any) int { return len(x.([]any)) },
		At:  func(x any, i int) any { return x.([]any)[i] },
	}, func(context.Context, any, map[string]any) (any, error) { return l.items, nil })
	mutation.Fields["lend"] = resolvedField(FieldType{Object: books}, func(_ context.Context, _ any, args map[string]any) (any, error) {
		l.called(fmt.Sprint("lend ", args["title"]))
		return &book{title: args["title"].(string), author: &author{name: "A"}}, nil
	})
	mutation.Fields["fail"] = resolvedField(FieldType{Object: books}, func(context.Context, any, map[string]any) (any, error) {
		return nil, errors.New("refused")
	})
	subscription.Fields["events"] = &FieldType{NonNull: true, Concrete: concrete}

	books.Fields["title"] = stringField(func(x any) string { return x.(*book).title })
	books.Fields["note"] = &FieldType{Leaf: func(b []byte, x any) []byte {
		note := l.note(x.(*book))
		if note == nil {
			return b
		}
		return AppendString(b, *note)
	}}
	books.Fields["tags"] = &FieldType{
		NonNull: true, ElemNonNull: true,
		Len:    func(x any) int { return len(x.(*book).tags) },
		LeafAt: func(b []byte, x any, i int) []byte { return AppendString(b, x.(*book).tags[i]) },
	}
	books.Fields["author"] = resolvedField(FieldType{Object: authors}, func(ctx context.Context, x any, _ map[string]any) (any, error) {
		a, err := l.author(ctx, x.(*book))
		return orNil(a), err
	})
	books.Fields["shelf"] = &FieldType{Object: shelves, Get: func(x any) any { return orNil(x.(*book).shelf) }}
	books.Fields["lentToMe"] = &FieldType{Unsupported: "it is an example"}
	maps.Fields["title"] = stringField(func(x any) string { return x.(*mapItem).title })
	maps.Fields["scale"] = &FieldType{Leaf: func(b []byte, x any) []byte { return AppendInt(b, x.(*mapItem).scale) }}
	authors.Fields["name"] = stringField(func(x any) string { return x.(*author).name })
	authors.Fields["books"] = &FieldType{
		NonNull: true, ElemNonNull: true, Object: books,
		Len: func(x any) int { return len(x.(*author).books) },
		At:  func(x any, i int) any { return orNil(x.(*author).books[i]) },
	}
	authors.Fields["born"] = resolvedField(FieldType{
		NonNull: true, Leaf: func(b []byte, x any) []byte { return AppendInt(b, x.(int)) },
	}, func(ctx context.Context, x any, _ map[string]any) (any, error) { return l.born(ctx, x.(*author)) })
	shelves.Fields["name"] = stringField(func(x any) string { return x.(*shelf).name })
	shelves.Fields["books"] = &FieldType{
		Object: books,
		Len: func(x any) int {
			if x.(*shelf).books == nil {
				return Null
			}
			return len(x.(*shelf).books)
		},
		At: func(x any, i int) any { return orNil(x.(*shelf).books[i]) },
	}
	shelves.Fields["first"] = &FieldType{NonNull: true, Object: books, Get: func(x any) any { return orNil(x.(*shelf).first) }}
	shelves.Fields["nested"] = &FieldType{
		NonNull: true, ElemNonNull: true, Object: shelves,
		Len: func(x any) int { return len(x.(*shelf).nested) },
		At:  func(x any, i int) any { return orNil(x.(*shelf).nested[i]) },
	}
	types := map[string]*ObjectType{}
	for _, o := range []*ObjectType{query, mutation, subscription, books, maps, authors, shelves} {
		types[o.Name] = o
	}
	return types
}

// operation parses and validates an operation, and returns a context to run it with.
func (l *library) operation(t testing.TB, query string, variables map[string]any) (context.Context, *graphql.OperationContext) {
	t.Helper()
	doc, ok := l.documents.Get(t.Context(), query)
	if !ok {
		var errs gqlerror.List
		if doc, errs = gqlparser.LoadQueryWithRules(l.ast, query, rules.NewDefaultRules()); len(errs) > 0 {
			t.Fatalf("%s: %v", query, errs)
		}
		l.documents.Add(t.Context(), query, doc)
	}
	values, err := validator.VariableValues(l.ast, doc.Operations[0], variables)
	if err != nil {
		t.Fatal(err)
	}
	op := &graphql.OperationContext{
		RawQuery: query, Doc: doc, Operation: doc.Operations[0], Variables: values,
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
		RecoverFunc:            func(_ context.Context, r any) error { return fmt.Errorf("panic: %v", r) },
	}
	ctx := graphql.WithOperationContext(t.Context(), op)
	return graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, op.RecoverFunc), op
}

// run executes a query or mutation and returns its data and errors, the latter as "path: message".
func (l *library) run(t testing.TB, query string, variables map[string]any) (data string, errs []string) {
	t.Helper()
	ctx, _ := l.operation(t, query, variables)
	response := l.schema.Exec(ctx)(ctx)
	return string(response.Data), errorsOf(ctx)
}

func errorsOf(ctx context.Context) (errs []string) {
	for _, err := range graphql.GetErrors(ctx) {
		errs = append(errs, err.Path.String()+": "+err.Message)
	}
	slices.Sort(errs)
	return errs
}

func wantData(t testing.TB, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

func wantErrors(t testing.TB, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// planHooks calls a function with the number of fields of each plan that was made.
func planHooks(made func(fields int)) Hooks {
	return Hooks{Plan: func(context.Context, bool) (func(int), error) { return made, nil }}
}

// holderKey is the key of who sends a document.
type holderKey struct{}
