package limits_test

import (
	"strings"
	"testing"

	"retwis/graph"
)

func TestNoIntrospection_RefusesToReadTheSchema(t *testing.T) {
	t.Parallel()
	queries := []string{
		`{ __schema { description } }`,
		`{ __type(name: "User") { name } }`,
		`{ ...F } fragment F on Query { ... on Query { x: __schema { description } } }`,
	}
	on, off := newAPI(graph.Options{Introspection: true}), newAPI(graph.Options{})
	for _, query := range queries {
		if response := on.run(t, query, ""); len(response.Errors) > 0 {
			t.Errorf("%s: %v", query, response.Errors)
		}
		response := off.run(t, query, "")
		wantError(t, response, "GRAPHQL_VALIDATION_FAILED")
		if len(response.Data) > 0 {
			t.Errorf("%s: got %s", query, response.Data)
		}
	}
	wantData(t, off.run(t, `{ __typename publicTimeline { __typename } }`, ""),
		`{"__typename": "Query", "publicTimeline": {"__typename": "Timeline"}}`)
}

func TestRulesWithoutSuggestions_NameNothingOfTheSchema(t *testing.T) {
	t.Parallel()
	on, off := newAPI(graph.Options{Introspection: true}), newAPI(graph.Options{})
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
			hint := on.run(t, tt.query, "").Errors.Error()
			if !strings.Contains(hint, "Did you mean") || !strings.Contains(hint, tt.leak) {
				t.Errorf("with suggestions, got %s", hint)
			}
			for _, err := range off.run(t, tt.query, "").Errors {
				if strings.Contains(err.Message, "Did you mean") {
					t.Errorf("without suggestions, got %s", err.Message)
				}
			}
		})
	}
}
