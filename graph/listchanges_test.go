package graph

import (
	"fmt"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

func TestCreateList_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: CreateListInput!) { createList(input: $input) {
		list { name owner { username } members { totalCount } timeline { kind posts { edges { cursor } } } } userErrors { code field }
	} }`
	a := newAPI(Options{})
	alice := a.addUser("alice")
	want := func(name string) string {
		return fmt.Sprintf(`{"createList": {"list": {"name": %q, "owner": {"username": "alice"}, "members": {"totalCount": 0},
			"timeline": {"kind": "LIST", "posts": {"edges": []}}}, "userErrors": []}}`, name)
	}

	wantData(t, a.run(as(t, alice), query, `{"input": {"name": "  Friends\n"}}`), want("Friends"))
	wantData(t, a.run(as(t, alice), query, `{"input": {"name": "Friends"}}`), want("Friends"))
	if calls := a.called("CreateList"); len(a.lists) != 2 || calls[0] == calls[1] || len(calls[0]) < len("CreateList")+20 {
		t.Errorf("without a key, made the calls %q, want two with different keys", calls)
	}
	const repeated = `{"input": {"name": "More friends", "idempotencyKey": "k"}}`
	wantData(t, a.run(as(t, alice), query, repeated), want("More friends"))
	a.lists[0].Name = "Renamed"
	wantData(t, a.run(as(t, alice), query, repeated), want("Renamed"))
	a.lists[0].Name = deleted

	tests := []struct{ name, input, want string }{
		{"blank", `{"name": " \n "}`, `[{"code": "BLANK", "field": ["input", "name"]}]`},
		{"too long", `{"name": "` + strings.Repeat("x", 51) + `"}`, `[{"code": "TOO_LONG", "field": ["input", "name"]}]`},
		{"two lines", `{"name": "a\nb"}`, `[{"code": "INVALID", "field": ["input", "name"]}]`},
		{"the key of a list that is gone", `{"name": "a", "idempotencyKey": "k"}`, `[{"code": "INVALID", "field": ["input", "idempotencyKey"]}]`},
		{"everything", `{"name": "", "idempotencyKey": "ü"}`,
			`[{"code": "BLANK", "field": ["input", "name"]}, {"code": "INVALID", "field": ["input", "idempotencyKey"]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantData(t, a.run(as(t, alice), query, `{"input": `+tt.input+`}`), `{"createList": {"list": null, "userErrors": `+tt.want+`}}`)
		})
	}
	t.Run("too many", func(t *testing.T) {
		a.fail["CreateList"] = fmt.Errorf("create: %w", retwis.FieldError(retwis.CodeLimitReached, "name", "too many"))
		wantData(t, a.run(as(t, alice), query, `{"input": {"name": "a"}}`),
			`{"createList": {"list": null, "userErrors": [{"code": "LIMIT_REACHED", "field": ["input", "name"]}]}}`)
	})
}

func TestRenameList_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($id: ID!, $name: String!) { renameList(input: {listId: $id, name: $name}) { list { id name } userErrors { code field } } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	id, gone := globalListID(a.addList(alice, "Friends").ID), globalListID(a.addList(alice, deleted).ID)
	variables := func(id, name string) string { return fmt.Sprintf(`{"id": %q, "name": %q}`, id, name) }
	failed := func(errors string) string { return `{"renameList": {"list": null, "userErrors": [` + errors + `]}}` }
	const notFound = `{"code": "NOT_FOUND", "field": ["input", "listId"]}`

	wantData(t, a.run(as(t, alice), query, variables(id, " Best friends ")),
		`{"renameList": {"list": {"id": "`+id+`", "name": "Best friends"}, "userErrors": []}}`)
	wantData(t, a.run(as(t, alice), query, variables(id, "")), failed(`{"code": "BLANK", "field": ["input", "name"]}`))
	wantData(t, a.run(as(t, alice), query, variables("1", "")), failed(notFound+`, {"code": "BLANK", "field": ["input", "name"]}`))
	wantData(t, a.run(as(t, bob), query, variables(id, "Mine")), failed(notFound))
	for _, id := range []string{gone, globalListID(99), globalTimelineID(retwis.ListPosts(a.lists[1].ID)), globalUserID(alice.ID), "1", ""} {
		wantData(t, a.run(as(t, alice), query, variables(id, "Mine")), failed(notFound))
	}
	if a.lists[1].Name != "Best friends" {
		t.Errorf("the list is called %q", a.lists[1].Name)
	}
}

func TestDeleteList_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($id: ID!) { deleteList(input: {listId: $id}) { deletedListId userErrors { code field message } } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	list := a.addList(alice, "Friends")
	id := globalListID(list.ID)
	const notFound = `{"deleteList": {"deletedListId": null, "userErrors": [
		{"code": "NOT_FOUND", "field": ["input", "listId"], "message": "list not found"}]}}`

	wantData(t, a.run(as(t, bob), query, `{"id": "`+id+`"}`), notFound)
	for range 2 {
		wantData(t, a.run(as(t, alice), query, `{"id": "`+id+`"}`), `{"deleteList": {"deletedListId": "`+id+`", "userErrors": []}}`)
	}
	neverHers := globalListID(list.ID + 1) // in another bucket
	for _, id := range []string{neverHers, globalUserID(alice.ID), "1", ""} {
		wantData(t, a.run(as(t, alice), query, `{"id": "`+id+`"}`), notFound)
	}
}

func TestListMembers_AreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	const query = `mutation($list: ID!, $user: ID!, $add: Boolean!) {
		addListMember(input: {listId: $list, userId: $user}) @include(if: $add) {
			list { name members { totalCount edges { node { username } } } } user { username } userErrors { code field }
		}
		removeListMember(input: {listId: $list, userId: $user}) @skip(if: $add) {
			list { name members { totalCount edges { node { username } } } } user { username } userErrors { code field }
		}
	}`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	list, gone := a.addList(alice, "Friends"), a.addList(alice, deleted)
	theirs := a.addList(bob, "Bob's")
	run := func(t *testing.T, add bool, list, user, want string) {
		t.Helper()
		field := map[bool]string{true: "addListMember", false: "removeListMember"}[add]
		variables := fmt.Sprintf(`{"list": %q, "user": %q, "add": %t}`, list, user, add)
		wantData(t, a.run(as(t, alice), query, variables), `{"`+field+`": `+want+`}`)
	}

	for range 2 {
		run(t, true, globalListID(list.ID), globalUserID(bob.ID), `{"list": {"name": "Friends",
			"members": {"totalCount": 1, "edges": [{"node": {"username": "bob"}}]}}, "user": {"username": "bob"}, "userErrors": []}`)
	}
	for range 2 {
		run(t, false, globalListID(list.ID), globalUserID(bob.ID), `{"list": {"name": "Friends",
			"members": {"totalCount": 0, "edges": []}}, "user": {"username": "bob"}, "userErrors": []}`)
	}

	const noList, noUser = `{"code": "NOT_FOUND", "field": ["input", "listId"]}`, `{"code": "NOT_FOUND", "field": ["input", "userId"]}`
	tests := []struct{ name, list, user, want string }{
		{"another's list", globalListID(theirs.ID), globalUserID(bob.ID), noList},
		{"a list that is gone", globalListID(gone.ID), globalUserID(bob.ID), noList},
		{"an unknown list", globalListID(99), globalUserID(bob.ID), noList},
		{"no list", globalUserID(bob.ID), globalUserID(bob.ID), noList},
		{"an unknown user", globalListID(list.ID), globalUserID(99), noUser},
		{"no user", globalListID(list.ID), globalListID(list.ID), noUser},
		{"neither", "", "1", noList + "," + noUser},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, add := range []bool{true, false} {
				run(t, add, tt.list, tt.user, `{"list": null, "user": null, "userErrors": [`+tt.want+`]}`)
			}
		})
	}
	t.Run("too many", func(t *testing.T) {
		a.fail["AddListMember"] = fmt.Errorf("add: %w", retwis.FieldError(retwis.CodeLimitReached, "userId", "too many"))
		run(t, true, globalListID(list.ID), globalUserID(bob.ID),
			`{"list": null, "user": null, "userErrors": [{"code": "LIMIT_REACHED", "field": ["input", "userId"]}]}`)
	})
	if len(theirs.members)+len(list.members) > 0 {
		t.Errorf("the lists hold %v and %v", theirs.members, list.members)
	}
}

func TestListMutations_RequireAViewer(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for _, field := range []string{
		`createList(input: {name: ""}) { list { id } }`,
		`renameList(input: {listId: "", name: ""}) { list { id } }`,
		`deleteList(input: {listId: ""}) { deletedListId }`,
		`addListMember(input: {listId: "", userId: ""}) { list { id } }`,
		`removeListMember(input: {listId: "", userId: ""}) { list { id } }`,
	} {
		name, _, _ := strings.Cut(field, "(")
		t.Run(name, func(t *testing.T) {
			response := a.run(as(t, nil), `mutation { `+field+` }`, "")
			wantError(t, response, "UNAUTHENTICATED")
			wantJSON(t, string(response.Data), `{"`+name+`": null}`)
		})
	}
	if len(a.calls) > 0 {
		t.Errorf("made the calls %q", a.calls)
	}
}
