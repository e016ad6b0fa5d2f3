package graph

import (
	"fmt"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

func TestLike_ReturnsThePostAndIsIdempotent(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := globalPostID(a.addPost(bob, "text").ID)
	const fields = `(input: {postId: "%s"}) { post { text likeCount viewerHasLiked likers { totalCount edges { node { username } likedAt } } }
		userErrors { code field message } } }`
	like, unlike := fmt.Sprintf("mutation { likePost"+fields, post), fmt.Sprintf("mutation { unlikePost"+fields, post)
	for range 2 {
		wantData(t, a.run(as(t, alice), like, ""), `{"likePost": {"post": {"text": "text", "likeCount": 1, "viewerHasLiked": true,
			"likers": {"totalCount": 1, "edges": [{"node": {"username": "alice"}, "likedAt": "2026-01-01T00:01:00.000Z"}]}}, "userErrors": []}}`)
	}
	wantData(t, a.run(as(t, bob), `{ publicTimeline { posts { edges { node { likeCount viewerHasLiked } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [{"node": {"likeCount": 1, "viewerHasLiked": false}}]}}}`)
	wantData(t, a.run(as(t, alice), `{ viewer { likedPosts { edges { likedAt node { text viewerHasLiked } } pageInfo { hasNextPage } } } }`, ""),
		`{"viewer": {"likedPosts": {"edges": [{"likedAt": "2026-01-01T00:01:00.000Z", "node": {"text": "text", "viewerHasLiked": true}}],
			"pageInfo": {"hasNextPage": false}}}}`)
	for range 2 {
		wantData(t, a.run(as(t, alice), unlike, ""), `{"unlikePost": {"post": {"text": "text", "likeCount": 0, "viewerHasLiked": false,
			"likers": {"totalCount": 0, "edges": []}}, "userErrors": []}}`)
	}
	for _, id := range []string{globalPostID(99_000_000), globalUserID(bob.ID), "nonsense"} {
		for _, name := range []string{"likePost", "unlikePost"} {
			wantData(t, a.run(as(t, alice), fmt.Sprintf("mutation { "+name+"(input: {postId: %q}) { post { id } userErrors { code field } } }", id), ""),
				`{"`+name+`": {"post": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "postId"]}]}}`)
		}
	}
	if response := a.run(t.Context(), like, ""); len(response.Errors) != 1 || response.Errors[0].Extensions["code"] != string(retwis.CodeUnauthenticated) {
		t.Errorf("a like of an anonymous client: %s %v", response.Data, response.Errors)
	}
}

// The likes of the viewer come with the page if it has them, and otherwise in one read.
func TestViewerHasLiked_IsReadOnceForAPage(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	reader := a.addUser("reader")
	for range 20 {
		a.addPost(reader, "text")
	}
	a.addLike(reader, a.posts[3])
	const page = `{ viewer { homeTimeline { posts(first: 20) { edges { node { id %s } } } } } }`
	response := a.run(as(t, reader), fmt.Sprintf(page, "viewerHasLiked likeCount"), "")
	if len(response.Errors) > 0 || strings.Count(string(response.Data), `"viewerHasLiked":true`) != 1 {
		t.Fatalf("got %s %v", response.Data, response.Errors)
	}
	if calls := a.called("Liked", "LikeCounts"); len(calls) != 2 {
		t.Errorf("calls %v, want one of each", calls)
	}
	a.known = true
	response = a.run(as(t, reader), fmt.Sprintf(page, "viewerHasLiked"), "")
	if len(response.Errors) > 0 || strings.Count(string(response.Data), `"viewerHasLiked":true`) != 1 {
		t.Fatalf("got %s %v", response.Data, response.Errors)
	}
	if calls := a.called("Liked"); len(calls) != 1 {
		t.Errorf("calls %v, want no further one: the page has the likes", calls)
	}
	if asked := a.viewer; asked != reader.ID {
		t.Errorf("the page was asked for the likes of %s, want %s", asked, reader.ID)
	}
	a.run(as(t, reader), fmt.Sprintf(page, "likeCount"), "")
	if asked := a.viewer; asked != 0 {
		t.Errorf("a page without viewerHasLiked was asked for the likes of %s", asked)
	}
}
