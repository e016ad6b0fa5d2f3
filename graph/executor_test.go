package graph

import "testing"

func TestExecutor_RunsIntrospectionBesideOtherFields(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	response := a.run(t.Context(), `{ __type(name: "Post") { name } publicTimeline { kind } }`, "")
	wantData(t, response, `{"__type": {"name": "Post"}, "publicTimeline": {"kind": "PUBLIC"}}`)
}
