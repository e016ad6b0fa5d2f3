package graph

import (
	"strings"
	"testing"
)

func TestAFieldThatCannotBeReadIsNull(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.addPost(alice, "one")
	user := a.executor.planned.planner.objects["User"]
	broken := *user.fields["bio"]
	broken.leaf = func([]byte, any) []byte { panic("out of order") }
	user.fields["bio"] = &broken

	response := a.run(t.Context(), `{
		before: user(username: "alice") { username }
		user(username: "alice") { username bio }
		after: user(username: "alice") { id: username timeline { posts { edges { node { author { bio } } } } } }
	}`, "")
	wantJSON(t, string(response.Data), `{"before": {"username": "alice"}, "user": null, "after": null}`)
	var paths []string
	for _, err := range response.Errors {
		paths = append(paths, err.Path.String())
	}
	if got, want := strings.Join(paths, " "), "user.bio after.timeline.posts.edges[0].node.author.bio"; got != want {
		t.Errorf("the errors are at %s, want %s", got, want)
	}
	if !strings.Contains(a.log.String(), "out of order") {
		t.Errorf("the panic is not in the log: %s", a.log)
	}
}

func TestOperationsThatReadTheSchemaHaveNoPlan(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	response := a.run(t.Context(), `{ __type(name: "Post") { name } publicTimeline { kind } }`, "")
	wantData(t, response, `{"__type": {"name": "Post"}, "publicTimeline": {"kind": "PUBLIC"}}`)
}
