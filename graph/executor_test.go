package graph

import "testing"

func TestExecutor_RunsIntrospectionBesideOtherFields(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	response := a.run(t.Context(), `{ post: __type(name: "Post") { name } publicTimeline { kind } none: __type(name: "None") { name } }`, "")
	wantData(t, response, `{"post": {"name": "Post"}, "publicTimeline": {"kind": "PUBLIC"}, "none": null}`)
}
