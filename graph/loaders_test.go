package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"retwis/internal/retwis"
)

// pageOfPosts selects the fields of authors that the web app selects.
const pageOfPosts = `{ publicTimeline { posts(first: 20) {
	edges { cursor node { id text createdAt author { id username displayName viewerFollows followsViewer } } }
	pageInfo { hasNextPage endCursor } liveCursor
} } }`

func TestPostPage_ReadsAuthorsOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	var alice *retwis.User
	for i := range 20 {
		alice = a.addUser(fmt.Sprint("user", i))
		a.addPost(alice, "text")
	}
	a.addPost(alice, "another")
	response := a.run(as(t, alice), pageOfPosts, "")
	if len(response.Errors) > 0 || strings.Count(string(response.Data), `"username":"user`) != 20 {
		t.Fatalf("got %s %v", response.Data, response.Errors)
	}
	got := a.called("Users", "Follows", "FollowedBy", "Page")
	slices.Sort(got)
	if want := []string{"FollowedBy19", "Follows19", "Pagep 20 0 0", "Users19"}; !slices.Equal(got, want) {
		t.Errorf("made the calls %q, want %q", got, want)
	}
}

func TestFollowerPage_ReadsFollowsOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for i := range 20 {
		a.addFollow(a.addUser(fmt.Sprint("user", i)), alice)
	}
	response := a.run(as(t, alice), `{ user(username: "alice") { followers { edges { node { username viewerFollows followsViewer } } } } }`, "")
	if len(response.Errors) > 0 || strings.Count(string(response.Data), `"followsViewer":true`) != 20 {
		t.Fatalf("got %s %v", response.Data, response.Errors)
	}
	got := a.called("Users", "Follows", "FollowedBy")
	slices.Sort(got)
	if want := []string{"FollowedBy20", "Follows20"}; !slices.Equal(got, want) {
		t.Errorf("made the calls %q, want %q", got, want)
	}
}

func TestNodes_ReadUnforeseenKeysTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		ids := make([]string, 20)
		for i := range ids {
			ids[i] = globalTimelineID(retwis.Profile(a.addUser(fmt.Sprint("user", i)).ID))
		}
		response := a.run(t.Context(), `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Timeline { owner { username } } } }`,
			`{"ids": ["`+strings.Join(ids, `", "`)+`"]}`)
		if len(response.Errors) > 0 || strings.Count(string(response.Data), `"username":"user`) != 20 {
			t.Fatalf("got %s %v", response.Data, response.Errors)
		}
		if got, want := a.called("Users"), []string{"Users20"}; !slices.Equal(got, want) {
			t.Errorf("made the calls %q, want %q", got, want)
		}
	})
}

func TestLoaders_AreNewForEachResponse(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for _, name := range []string{"Alice", "A."} {
		alice.DisplayName = name
		wantData(t, a.run(as(t, alice), `{ viewer { user { displayName } } }`, ""), `{"viewer": {"user": {"displayName": "`+name+`"}}}`)
	}
}

func BenchmarkPageOfPosts(b *testing.B) {
	a := newAPI(Options{})
	for i := range 20 {
		a.addPost(a.addUser(fmt.Sprint("user", i)), "a text of some length, as people write it")
	}
	b.ReportAllocs()
	for b.Loop() {
		if response := a.run(b.Context(), pageOfPosts, ""); len(response.Errors) > 0 {
			b.Fatal(response.Errors)
		}
		a.calls = a.calls[:0]
	}
}
