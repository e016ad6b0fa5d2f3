package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

func TestIntrospectionCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	queries := []string{
		`{ __schema { description } }`,
		`{ __type(name: "User") { name } }`,
		`{ ...F } fragment F on Query { ... on Query { x: __schema { description } } }`,
	}
	on, off := newAPI(Options{Introspection: true}), newAPI(Options{})
	for _, query := range queries {
		if response := on.run(as(t, nil), query, ""); len(response.Errors) > 0 {
			t.Errorf("%s: %v", query, response.Errors)
		}
		response := off.run(as(t, nil), query, "")
		wantError(t, response, "GRAPHQL_VALIDATION_FAILED")
		if len(response.Data) > 0 {
			t.Errorf("%s: got %s", query, response.Data)
		}
	}
	wantData(t, off.run(as(t, nil), `{ __typename publicTimeline { __typename } }`, ""),
		`{"__typename": "Query", "publicTimeline": {"__typename": "Timeline"}}`)
}

func TestSuggestionsAreSwitchedOffWithIntrospection(t *testing.T) {
	t.Parallel()
	on, off := newAPI(Options{Introspection: true}), newAPI(Options{})
	tests := []struct{ name, query, leak string }{
		{"a field", `{ publicTimelin { id } }`, "publicTimeline"},
		{"a field of an interface", `{ node(id: "x") { username } }`, "User"},
		{"an argument", `{ user(usernam: "x", username: "y") { id } }`, `"username"`},
		{"an input field", `mutation { createPost(input: {tex: "x", text: "y"}) { edge { cursor } } }`, `"text"`},
		{"a type", `{ node(id: "x") { ...F } } fragment F on Userr { id }`, "User"},
		{"a missing selection", `{ publicTimeline }`, "publicTimeline { ... }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hint := on.run(as(t, nil), tt.query, "").Errors.Error()
			if !strings.Contains(hint, "Did you mean") || !strings.Contains(hint, tt.leak) {
				t.Errorf("with suggestions, got %s", hint)
			}
			for _, err := range off.run(as(t, nil), tt.query, "").Errors {
				if strings.Contains(err.Message, "Did you mean") {
					t.Errorf("without suggestions, got %s", err.Message)
				}
			}
		})
	}
}

func TestPersistedQueries(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	const query = `{ publicTimeline { kind } }`
	sum := sha256.Sum256([]byte(query))
	run := func(query string) *graphql.Response {
		ctx := graphql.StartOperationTrace(t.Context())
		op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Extensions: map[string]any{
			"persistedQuery": map[string]any{"version": 1, "sha256Hash": hex.EncodeToString(sum[:])},
		}})
		if len(errs) > 0 {
			return a.executor.DispatchError(graphql.WithOperationContext(ctx, op), errs)
		}
		responses, ctx := a.executor.DispatchOperation(ctx, op)
		return responses(ctx)
	}
	wantError(t, run(""), "PERSISTED_QUERY_NOT_FOUND")
	wantData(t, run(query), `{"publicTimeline": {"kind": "PUBLIC"}}`)
	wantData(t, run(""), `{"publicTimeline": {"kind": "PUBLIC"}}`)
}

func TestACrashBeforeAnOperationRunsIsAnInternalError(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	a.executor.Use(crash{})
	response := a.run(as(t, nil), `{ publicTimeline { id } }`, "")
	id := fmt.Sprint(wantError(t, response, "INTERNAL_SERVER_ERROR").Extensions["id"])
	if !strings.Contains(a.log.String(), "boom") || !strings.Contains(a.log.String(), id) || strings.Count(a.log.String(), "\n") != 1 {
		t.Errorf("logged %s", a.log)
	}
}

// crash panics where no resolver's recover is in the way.
type crash struct{ operationLimits }

func (crash) MutateOperationContext(_ context.Context, _ *graphql.OperationContext) *gqlerror.Error {
	panic("boom")
}

func TestLongDocumentsAreNotKept(t *testing.T) {
	t.Parallel()
	kept := map[string]*ast.QueryDocument{}
	cache := shortOnly[*ast.QueryDocument]{
		Cache:  graphql.MapCache[*ast.QueryDocument](kept),
		length: func(query string, _ *ast.QueryDocument) int { return len(query) },
	}
	cache.Add(t.Context(), strings.Repeat("x", maxCachedDocument), nil)
	cache.Add(t.Context(), strings.Repeat("x", maxCachedDocument+1), nil)
	if len(kept) != 1 {
		t.Errorf("kept %d of two", len(kept))
	}
}
