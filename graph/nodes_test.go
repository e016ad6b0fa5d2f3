package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"retwis/internal/retwis"
)

func TestNode_ReturnsObjectsByID(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := a.addPost(alice, "one")
	const query = `query($id: ID!) { node(id: $id) {
		__typename id
		... on User { username }
		... on Post { text createdAt author { username } }
		... on Timeline { kind owner { username } }
		... on Viewer { user { username } homeTimeline { id } }
	} }`
	home := globalTimelineID(retwis.Home(alice.ID))
	viewer := globalViewerID(alice.ID)

	tests := []struct {
		name, id string
		reader   *retwis.User
		want     string // empty for null
	}{
		{"a user", globalUserID(alice.ID), nil, `{"__typename": "User", "id": "ID", "username": "alice"}`},
		{"a post", globalPostID(post.ID), nil,
			`{"__typename": "Post", "id": "ID", "text": "one", "createdAt": "2026-01-01T00:00:00.001Z", "author": {"username": "alice"}}`},
		{"the public timeline", globalTimelineID(retwis.Public()), nil,
			`{"__typename": "Timeline", "id": "ID", "kind": "PUBLIC", "owner": null}`},
		{"a profile", globalTimelineID(retwis.Profile(alice.ID)), bob,
			`{"__typename": "Timeline", "id": "ID", "kind": "PROFILE", "owner": {"username": "alice"}}`},
		{"the reader's home", home, alice,
			`{"__typename": "Timeline", "id": "ID", "kind": "HOME", "owner": {"username": "alice"}}`},
		{"another's home", home, bob, ""},
		{"a home, anonymously", home, nil, ""},
		{"the viewer", viewer, alice,
			`{"__typename": "Viewer", "id": "ID", "user": {"username": "alice"}, "homeTimeline": {"id": "` + home + `"}}`},
		{"another viewer", viewer, bob, ""},
		{"a viewer, anonymously", viewer, nil, ""},
		{"an unknown user", globalUserID(99), nil, ""},
		{"an unknown post", globalPostID(99), nil, ""},
		{"an unknown profile", globalTimelineID(retwis.Profile(99)), nil, ""},
		{"a malformed id", "1", nil, ""},
		{"an empty id", "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := "null"
			if tt.want != "" {
				want = strings.Replace(tt.want, `"ID"`, `"`+tt.id+`"`, 1)
			}
			wantData(t, a.run(as(t, tt.reader), query, fmt.Sprintf(`{"id": %q}`, tt.id)), `{"node": `+want+`}`)
		})
	}

	t.Run("every id that is given out can be asked for", func(t *testing.T) {
		response := a.run(as(t, alice), `{
			viewer { id user { id timeline { id } } homeTimeline { id posts { edges { node { id } } } } }
			publicTimeline { id }
		}`, "")
		var ids []string
		for _, part := range strings.Split(string(response.Data), `"id":"`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			ids = append(ids, id)
		}
		variables, _ := json.Marshal(map[string]any{"ids": ids})
		found := a.run(as(t, alice), `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, string(variables))
		want := `{"nodes": [{"id": "` + strings.Join(ids, `"}, {"id": "`) + `"}]}`
		if len(ids) != 6 {
			t.Fatalf("found the ids %q in %s", ids, response.Data)
		}
		wantData(t, found, want)
	})
}

func TestNodes_KeepTheOrderOfIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice, bob := a.addUser("alice"), a.addUser("bob")
		first, second := a.addPost(alice, "one"), a.addPost(bob, "two")
		ids, _ := json.Marshal([]string{
			globalPostID(second.ID), globalUserID(bob.ID), "x", globalPostID(first.ID),
			globalTimelineID(retwis.Home(bob.ID)), globalUserID(alice.ID), globalUserID(alice.ID),
		})
		wantData(t, a.run(as(t, alice), `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Post { text } ... on User { username } } }`,
			`{"ids": `+string(ids)+`}`), `{"nodes": [
				{"text": "two"}, {"username": "bob"}, null, {"text": "one"}, null, {"username": "alice"}, {"username": "alice"}
			]}`)
		if got, want := a.called("Users", "Posts"), []string{"Posts2", "Users2"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("made the calls %q, want %q", got, want)
		}
	})
}

func TestNodes_RefuseMoreThanTheMaximum(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	ids := func(n int) string {
		return `{"ids": ["` + strings.Join(slices.Repeat([]string{globalUserID(1)}, n), `", "`) + `"]}`
	}
	const query = `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`
	wantData(t, a.run(as(t, nil), query, ids(100)), `{"nodes": [`+strings.Repeat("null, ", 99)+`null]}`)
	wantError(t, a.run(as(t, nil), query, ids(101)), "BAD_USER_INPUT")
	wantData(t, a.run(as(t, nil), query, `{"ids": []}`), `{"nodes": []}`)
}
