package graph

import (
	"fmt"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

func TestRepost_ReturnsThePostAndIsIdempotent(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := globalPostID(a.addPost(bob, "text").ID)
	const fields = `(input: {postId: "%s"}) { post { text repostCount viewerHasReposted } userErrors { code field message } } }`
	repost, undo := fmt.Sprintf("mutation { repostPost"+fields, post), fmt.Sprintf("mutation { undoRepost"+fields, post)
	for range 2 {
		wantData(t, a.run(as(t, alice), repost, ""), `{"repostPost": {"post": {"text": "text", "repostCount": 1, "viewerHasReposted": true}, "userErrors": []}}`)
	}
	byEntry := fmt.Sprintf("mutation { repostPost"+fields, globalPostID(a.reposts[0].id))
	wantData(t, a.run(as(t, bob), byEntry, ""), `{"repostPost": {"post": {"text": "text", "repostCount": 2, "viewerHasReposted": true}, "userErrors": []}}`)
	for range 2 {
		wantData(t, a.run(as(t, alice), undo, ""), `{"undoRepost": {"post": {"text": "text", "repostCount": 1, "viewerHasReposted": false}, "userErrors": []}}`)
	}
	for _, id := range []string{globalPostID(99_000_000), globalUserID(bob.ID), "nonsense"} {
		for _, name := range []string{"repostPost", "undoRepost"} {
			wantData(t, a.run(as(t, alice), fmt.Sprintf("mutation { "+name+"(input: {postId: %q}) { post { id } userErrors { code field } } }", id), ""),
				`{"`+name+`": {"post": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "postId"]}]}}`)
		}
	}
	if response := a.run(t.Context(), repost, ""); len(response.Errors) != 1 || response.Errors[0].Extensions["code"] != string(retwis.CodeUnauthenticated) {
		t.Errorf("a repost of an anonymous client: %s %v", response.Data, response.Errors)
	}
}

func TestPostEdge_SaysWhoReposted(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := a.addPost(bob, "text")
	repost := a.addRepost(alice, post)
	const fields = `{ posts { edges { entryId node { id author { username } } reason { user { username } createdAt } } } }`
	wantData(t, a.run(as(t, bob), `{ viewer { homeTimeline `+fields+` } }`, ""), fmt.Sprintf(`{"viewer": {"homeTimeline": {"posts": {"edges": [
		{"entryId": %q, "node": {"id": %q, "author": {"username": "bob"}}, "reason": {"user": {"username": "alice"}, "createdAt": "1970-01-01T00:00:00.001Z"}},
		{"entryId": %q, "node": {"id": %[2]q, "author": {"username": "bob"}}, "reason": null}]}}}}`, globalPostID(repost), globalPostID(post.ID), globalPostID(post.ID)))
	if calls := a.called("Users"); len(calls) != 1 {
		t.Errorf("calls %v, want one read for the author and the reposter", calls)
	}
}

// The reposts of the viewer come with the page if it has them, and otherwise in one read.
func TestViewerHasReposted_IsReadOnceForAPage(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	reader := a.addUser("reader")
	for range 20 {
		a.addPost(reader, "text")
	}
	a.addRepost(reader, a.posts[3])
	const page = `{ viewer { homeTimeline { posts(first: 20) { edges { node { id viewerHasReposted repostCount } } } } } }`
	for _, a.known = range []bool{false, true} {
		response := a.run(as(t, reader), page, "")
		if len(response.Errors) > 0 || strings.Count(string(response.Data), `"viewerHasReposted":true`) != 2 {
			t.Fatalf("got %s %v", response.Data, response.Errors)
		}
	}
	if calls := a.called("Reposted"); len(calls) != 1 {
		t.Errorf("calls %v, want one: the second page has the reposts", calls)
	}
	if calls := a.called("RepostCounts"); len(calls) != 2 {
		t.Errorf("calls %v, want one for each page", calls)
	}
	if a.viewer != reader.ID {
		t.Errorf("the page was asked for the reposts of %s, want %s", a.viewer, reader.ID)
	}
}
