package graph

import (
	"fmt"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

// answer returns the mutation that answers a post.
func answer(id string) string {
	return fmt.Sprintf(`mutation { createPost(input: {text: "an answer", inReplyToId: %q}) {
		edge { node { text inReplyTo { text } inReplyToId inReplyToUser { username } ancestors { postId post { text } unavailable } } } userErrors { code field } } }`, id)
}

func TestCreatePost_AnswersAPost(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	question := globalPostID(a.addPost(alice, "a question").ID)
	wantData(t, a.run(as(t, bob), answer(question), ""), `{"createPost": {"edge": {"node": {
		"text": "an answer", "inReplyTo": {"text": "a question"}, "inReplyToId": "`+question+`", "inReplyToUser": {"username": "alice"},
		"ancestors": [{"postId": "`+question+`", "post": {"text": "a question"}, "unavailable": null}]
	}}, "userErrors": []}}`)
	for name, id := range map[string]string{"an unknown post": globalPostID(77_000_000), "a user": globalUserID(alice.ID), "no id": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantData(t, a.run(as(t, bob), answer(id), ""),
				`{"createPost": {"edge": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "inReplyToId"]}]}}`)
		})
	}
}

func TestCreatePost_QuotesAPost(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	original := globalPostID(a.addPost(alice, "an original").ID)
	quote := func(id string) string {
		return fmt.Sprintf(`mutation { createPost(input: {text: "a quote", quotedPostId: %q}) {
			edge { node { text quotedPost { postId post { text quoteCount quotedPost { postId } } unavailable } } } userErrors { code field } } }`, id)
	}
	wantData(t, a.run(as(t, bob), quote(original), ""), `{"createPost": {"edge": {"node": {
		"text": "a quote", "quotedPost": {"postId": "`+original+`", "post": {"text": "an original", "quoteCount": 1, "quotedPost": null}, "unavailable": null}
	}}, "userErrors": []}}`)
	for name, id := range map[string]string{"an unknown post": globalPostID(77_000_000), "a user": globalUserID(alice.ID), "no id": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantData(t, a.run(as(t, bob), quote(id), ""),
				`{"createPost": {"edge": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "quotedPostId"]}]}}`)
		})
	}
}

func TestQuotedPost_IsAPlaceholderWhenDeleted(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.addPost(alice, "a quote").Quoted = 77_000_000
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts(first: 1) { edges { node { text quotedPost { postId post { text } unavailable } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [{"node": {"text": "a quote",
			"quotedPost": {"postId": "`+globalPostID(77_000_000)+`", "post": null, "unavailable": "DELETED"}}}]}}}`)
}

func TestPost_HasQuotesInPages(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	original := a.addPost(alice, "an original")
	a.addPost(alice, "a reply").Thread = []retwis.PostID{original.ID}
	var quotes []*retwis.Post
	for _, text := range []string{"one", "two", "three"} {
		quote := a.addPost(alice, text)
		quote.Quoted = original.ID
		quotes = append(quotes, quote)
	}
	id := globalPostID(original.ID)
	after := func(kind retwis.ReferenceKind, quote *retwis.Post) string {
		return string(retwis.ReferencePosition{Of: retwis.References{Kind: kind, To: original.ID, Newest: true}, Post: quote.ID}.Cursor())
	}
	page := func(args string) string {
		return fmt.Sprintf(`{ node(id: %q) { ... on Post { quotedPostId quotes(%s) {
			edges { node { text quotedPostId } } pageInfo { hasNextPage hasPreviousPage } } } } }`, id, args)
	}
	wantData(t, a.run(as(t, nil), page("first: 2"), ""), `{"node": {"quotedPostId": null, "quotes": {
		"edges": [{"node": {"text": "three", "quotedPostId": "`+id+`"}}, {"node": {"text": "two", "quotedPostId": "`+id+`"}}],
		"pageInfo": {"hasNextPage": true, "hasPreviousPage": false}}}}`)
	wantData(t, a.run(as(t, nil), page(fmt.Sprintf("first: 2, after: %q", after(retwis.QuoteReference, quotes[1]))), ""), `{"node": {
		"quotedPostId": null, "quotes": {"edges": [{"node": {"text": "one", "quotedPostId": "`+id+`"}}],
		"pageInfo": {"hasNextPage": false, "hasPreviousPage": true}}}}`)
}

// The names in a page of replies are read with the authors.
func TestInReplyToUser_IsTheAuthorOfThePostAnswered(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	question := a.addPost(alice, "a question")
	reply := func(author *retwis.User, text string, answered retwis.UserID) {
		p := a.addPost(author, text)
		p.Thread, p.Answered = []retwis.PostID{question.ID}, answered
	}
	reply(alice, "a continuation", 0)
	reply(bob, "an answer", alice.ID)
	reply(bob, "to a deleted account", 99)
	id := globalPostID(question.ID)
	response := a.run(as(t, nil), `{ publicTimeline { posts { edges { node { text inReplyToId inReplyToUser { username } } } } } }`, "")
	wantData(t, response, `{"publicTimeline": {"posts": {"edges": [
		{"node": {"text": "to a deleted account", "inReplyToId": "`+id+`", "inReplyToUser": null}},
		{"node": {"text": "an answer", "inReplyToId": "`+id+`", "inReplyToUser": {"username": "alice"}}},
		{"node": {"text": "a continuation", "inReplyToId": "`+id+`", "inReplyToUser": {"username": "alice"}}},
		{"node": {"text": "a question", "inReplyToId": null, "inReplyToUser": null}}
	]}}}`)
	if calls := a.called("Users"); len(calls) != 1 {
		t.Errorf("calls: %q, want one for all users", calls)
	}
}

func TestThread_ShowsADeletedPostWithReplies(t *testing.T) {
	t.Parallel()
	const query = `query($id: ID!) { thread(postId: $id) {
		postId post { text replyCount } ancestors { postId } replyCount
		replies(first: 1, orderBy: NEWEST) { edges { node { text inReplyTo { text } ancestors { post { text } unavailable } } } pageInfo { hasNextPage } }
	} }`
	a := newAPI(Options{})
	alice := a.addUser("alice")
	question := a.addPost(alice, "a question")
	for _, text := range []string{"one", "two"} {
		a.addPost(alice, text).Thread = []retwis.PostID{question.ID}
	}
	variables := `{"id": "` + globalPostID(question.ID) + `"}`
	wantData(t, a.run(as(t, nil), query, variables), `{"thread": {
		"postId": "`+globalPostID(question.ID)+`", "post": {"text": "a question", "replyCount": 2}, "ancestors": [], "replyCount": 2,
		"replies": {"edges": [{"node": {"text": "two", "inReplyTo": {"text": "a question"},
			"ancestors": [{"post": {"text": "a question"}, "unavailable": null}]}}], "pageInfo": {"hasNextPage": true}}
	}}`)
	a.posts = a.posts[:2] // the replies
	wantData(t, a.run(as(t, nil), query, variables), `{"thread": {
		"postId": "`+globalPostID(question.ID)+`", "post": null, "ancestors": [], "replyCount": 2,
		"replies": {"edges": [{"node": {"text": "two", "inReplyTo": null,
			"ancestors": [{"post": null, "unavailable": "DELETED"}]}}], "pageInfo": {"hasNextPage": true}}
	}}`)
	a.posts = nil
	wantData(t, a.run(as(t, nil), query, variables), `{"thread": null}`)
	wantData(t, a.run(as(t, nil), query, `{"id": "`+globalUserID(alice.ID)+`"}`), `{"thread": null}`)
}

func TestReplies_AreReadInPages(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	question := a.addPost(alice, "a question")
	var cursors []string
	of := retwis.References{Kind: retwis.ReplyReference, To: question.ID}
	for i := range 3 {
		reply := a.addPost(alice, fmt.Sprint("reply ", i))
		reply.Thread = []retwis.PostID{question.ID}
		cursors = append(cursors, string(retwis.ReferencePosition{Of: of, Post: reply.ID}.Cursor()))
	}
	page := func(arguments string) string {
		return fmt.Sprintf(`{ node(id: %q) { ... on Post { replies(%s) { edges { cursor node { text } } pageInfo { hasNextPage endCursor } } } } }`,
			globalPostID(question.ID), arguments)
	}
	wantData(t, a.run(as(t, nil), page("first: 2"), ""), `{"node": {"replies": {
		"edges": [{"cursor": "`+cursors[0]+`", "node": {"text": "reply 0"}}, {"cursor": "`+cursors[1]+`", "node": {"text": "reply 1"}}],
		"pageInfo": {"hasNextPage": true, "endCursor": "`+cursors[1]+`"}}}}`)
	wantData(t, a.run(as(t, nil), page(fmt.Sprintf("first: 2, after: %q", cursors[1])), ""), `{"node": {"replies": {
		"edges": [{"cursor": "`+cursors[2]+`", "node": {"text": "reply 2"}}], "pageInfo": {"hasNextPage": false, "endCursor": "`+cursors[2]+`"}}}}`)
	wantError(t, a.run(as(t, nil), page("first: 0"), ""), "BAD_USER_INPUT")
	for _, last := range []string{"0", "22"} {
		query := fmt.Sprintf(`{ node(id: %q) { ... on Post { ancestors(last: %s) { postId } } } }`, globalPostID(question.ID), last)
		wantError(t, a.run(as(t, nil), query, ""), "BAD_USER_INPUT")
	}
}

func TestUserTimeline_IncludesReplies(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	wantData(t, a.run(as(t, nil), `{ user(username: "alice") {
		timeline { id kind } all: timeline(includeReplies: true) { id kind } none: timeline(includeReplies: null) { kind } } }`, ""), fmt.Sprintf(
		`{"user": {"timeline": {"id": %q, "kind": "PROFILE"}, "all": {"id": %q, "kind": "PROFILE_WITH_REPLIES"}, "none": {"kind": "PROFILE"}}}`,
		globalTimelineID(retwis.Profile(alice.ID)), globalTimelineID(retwis.ProfileWithReplies(alice.ID))))
}

// Counts and posts of a page are each read at once.
func TestReferences_AreBatched(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	question := a.addPost(alice, "a question")
	for i := range 5 {
		reply := a.addPost(alice, fmt.Sprint("reply ", i))
		reply.Thread, reply.Quoted = []retwis.PostID{question.ID}, question.ID
	}
	response := a.run(as(t, nil), `{ publicTimeline { posts(first: 6) { edges { node {
		replyCount quoteCount inReplyTo { id } ancestors { postId } quotedPost { post { id } } } } } } }`, "")
	if len(response.Errors) > 0 {
		t.Fatal(response.Errors)
	}
	if calls := a.called("ReplyCounts", "QuoteCounts", "Posts"); len(calls) != 3 {
		t.Errorf("calls: %s, want one for each count and one for the post answered and quoted", strings.Join(calls, ", "))
	}
}

// A page that ended early has the position from which to continue.
func TestPostPageInfo_EndsWhereThePageEnded(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	ctx := a.executor.sources.With(t.Context(), 0)
	page := retwis.PostPage{Edges: []retwis.PostEdge{{Cursor: "edge", Post: &retwis.Post{}}}, HasNextPage: true, ScannedTo: "scanned"}
	if info := postPageInfo(ctx, page, false); *info.StartCursor != "edge" || *info.EndCursor != "scanned" {
		t.Errorf("forward: from %s to %s", *info.StartCursor, *info.EndCursor)
	}
	if info := postPageInfo(ctx, page, true); *info.StartCursor != "scanned" || *info.EndCursor != "edge" {
		t.Errorf("backward: from %s to %s", *info.StartCursor, *info.EndCursor)
	}
	page.Edges = nil
	if info := postPageInfo(ctx, page, false); info.StartCursor != nil || *info.EndCursor != "scanned" {
		t.Errorf("an empty page ends at %v, want where it was scanned to", info.EndCursor)
	}
}
