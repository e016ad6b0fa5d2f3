package limits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
)

func TestLimits_AcceptOperations(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{Introspection: true})
	tests := []struct{ name, query, variables string }{
		{"the standard introspection query", introspectionQuery(t), ""},
		{"a page of 100 posts with everything about their authors", `{ publicTimeline { id kind posts(first: 100) {
			edges { cursor node { id text createdAt mentions { id username displayName } ` + everyField + ` } }
			pageInfo { hasNextPage hasPreviousPage startCursor endCursor } liveCursor } } }`, ""},
		{"the same page with its size in a variable", `query($n: Int = 100) { publicTimeline { posts(first: $n) {
			edges { cursor node { id text createdAt ` + everyField + ` } } } } }`, ""},
		{"100 posts with their entities and the bios of their authors", `{ publicTimeline { posts(first: 100) { edges { node { id text
			entities { start end ... on TextLink { url } ... on TextMention { user { username } } }
			author { bio bioEntities { start end } } } } } } }`, ""},
		{"100 followers with 20 posts each", `{ user(username: "alice") { followers(first: 100) {
			totalCount edges { node { timeline { posts { edges { node { id } } } } } } } } }`, ""},
		{"20 lists with 20 members and 20 posts each", `{ viewer { lists { edges { cursor node { id name owner { username } createdAt
			members { totalCount edges { followedAt node { id username } } }
			timeline { id posts { edges { node { id text } } } } } } } } }`, ""},
		{"20 components with fragments of the same fields", `{ publicTimeline { posts(first: 20) { edges { node { ` + numbered(20, `...F%d `) + ` } } } } } ` +
			numbered(20, `fragment F%d on Post { id text createdAt likeCount author { id username displayName bio } }`), ""},
		{"100 nodes", `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Post { id text ` + everyField + ` } } }`,
			`{"ids": ["` + strings.Repeat(`a", "`, 99) + `a"]}`},
		{"15 fields deep", nest(15), ""},
		{"30 fields at the root", `{` + aliases(30) + `}`, ""},
		{"50 aliases", `{ viewer {` + strings.ReplaceAll(aliases(50), "viewer", "user") + `} }`, ""},
		{"50 directives", `{ viewer @include(if: true) {` + strings.Repeat(" id @skip(if: false)", 49) + `} }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if response := a.run(t, tt.query, tt.variables); len(response.Errors) > 0 {
				t.Error(response.Errors)
			}
		})
	}
}

func TestLimits_RefuseExpensiveOperations(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{Introspection: true})
	login := `login(input: {username: "alice", password: "guess"}) { token }`
	var logins strings.Builder
	for i := range 25 {
		fmt.Fprintf(&logins, "a%d: %s ", i, login)
	}
	tests := []struct{ name, query, variables string }{
		{"too deep", nest(17), ""},
		{"too deep through fragments", `{ user(username: "alice") { ...F0 } }` + chain(7, "timeline { owner { ...F%d } }"), ""},
		{"too many fields at the root", `{` + aliases(31) + `}`, ""},
		{"too many fields at the root through fragments", `{ ...F0 ...F0 } fragment F0 on Query { ` + aliases(16) + `}`, ""},
		{"too many aliases", `{ viewer {` + strings.ReplaceAll(aliases(51), "viewer", "user") + `} }`, ""},
		{"too many directives", `{ viewer {` + strings.Repeat(" id @skip(if: false)", 51) + `} }`, ""},
		{"too many directives through fragments", `{ viewer { ...F0 ...F0 ...F0 } } fragment F0 on Viewer @include(if: true) {` +
			strings.Repeat(" id @skip(if: false)", 17) + `}`, ""},
		{"too many directives on the operation", `query` + strings.Repeat(" @skip(if: true)", 51) + ` { viewer { id } }`, ""},
		{"too many aliases through fragments", `{ ...F0 } ` + fragments(6, "Query", func(i int) string {
			return fmt.Sprintf("a%d: viewer { id } ...F%d ...F%d", i, i+1, i+1)
		}), ""},
		{"pages of pages", `{ publicTimeline { posts(first: 100) { edges { node { author { followers(first: 100) { edges { node { id } } } } } } } } }`, ""},
		{"pages of mentioned users", `{ publicTimeline { posts(first: 100) { edges { node { mentions {
			followers { totalCount } } } } } } }`, ""},
		{"pages of the users whom bios mention", `{ newestUsers(first: 100) { edges { node { bioEntities { ... on TextMention { user {
			followers { totalCount } } } } } } } }`, ""},
		{"lists with the followers of all members", `{ viewer { lists(first: 10) { edges { node { members(first: 100) { edges { node {
			followers { totalCount } } } } } } } } }`, ""},
		{"pages of pages by variables", `query($n: Int, $m: Int = 100) { user(username: "alice") { followers(last: $n) { edges { node {
			following(first: $m) { edges { node { id } } } } } } } }`, `{"n": 100}`},
		{"pages of pages of the default size", `{ user(username: "alice") { followers { edges { node { followers { edges { node {
			followers { edges { node { id } } } } } } } } } } }`, ""},
		{"pages of the users that a search finds", `{ searchUsers(prefix: "a", first: 50) { edges { node { commonFollowers(with: "x", first: 100) {
			edges { node { id username } } } } } } }`, ""},
		{"pages of the users that match a query", `{ findUsers(query: "a") { followers(first: 100) { edges { node { id username displayName bio } } } } }`, ""},
		{"pages of the newest users", `{ newestUsers(first: 100) { edges { node { followersYouKnow(last: 50) { edges { node { id } } } } } } }`, ""},
		{"pages of an invalid size", `{ user(username: "alice") { followers(first: -100000) { edges { node {
			following(first: 2000000000) { edges { node { id } } } } } } } }`, ""},
		{"many pages of nodes", `query($ids: [ID!]!) { nodes(ids: $ids) { ... on User { followers(first: 100) { edges { node { id } } } } } }`,
			`{"ids": ["` + strings.Repeat(`a", "`, 99) + `a"]}`},
		{"many logins", `mutation { ` + logins.String() + ` }`, ""},
		{"the schema, many times over", `{ ` + schemas(10) + ` }`, ""},
		{"a cost that overflows", `{ user(username: "alice") { ...F0 } }` + fragments(30, "User", func(i int) string {
			return fmt.Sprintf("id ...F%d ...F%d", i+1, i+1) + strings.Repeat(fmt.Sprintf(" ...F%d", i+1), 4)
		}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, a.run(t, tt.query, tt.variables), "COMPLEXITY_LIMIT_EXCEEDED")
		})
	}
	if a.backend.calls > 0 {
		t.Errorf("made %d calls, want none", a.backend.calls)
	}
}

func TestLimits_NameTheLimitOfLevels(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	levels := func(n int) string {
		return `{ viewer { ...F } ` + strings.Repeat(`... { `, n) + `__typename` + strings.Repeat(` }`, n) + ` } fragment F on Viewer { ` +
			strings.Repeat(`... { `, 10) + `user { ` + strings.Repeat(`... { `, 8) + `id` + strings.Repeat(` }`, 18) + ` } }`
	}
	if response := a.run(t, levels(19), ""); len(response.Errors) > 0 {
		t.Error("19 levels are refused:", response.Errors)
	}
	chain := `{ ...F0 } ` + fragments(11, "Query", func(i int) string { return fmt.Sprintf("... { ...F%d }", i+1) })
	if errs := a.run(t, chain, "").Errors; len(errs) != 1 || !strings.Contains(errs[0].Message, "nests 23 fragments without a field between them: the limit is 20") {
		t.Error("got the errors", errs)
	}
}

func TestLimits_NameTheLimitOfValues(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	nested := func(n int) string {
		return `{ publicTimeline { posts(first: ` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `) { edges { cursor } } a: posts(first: [1, [2]]) { liveCursor } } }`
	}
	for n, want := range map[int]string{5: "GRAPHQL_VALIDATION_FAILED", 6: "COMPLEXITY_LIMIT_EXCEEDED"} {
		if errs := a.run(t, nested(n), "").Errors; len(errs) == 0 || errs[0].Extensions["code"] != want {
			t.Errorf("%d nested lists: got the errors %v, want %s", n, errs, want)
		}
	}
}

func TestDocumentBounds_RefuseBeforeValidation(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	for name, query := range hostileDocuments() {
		t.Run(name, func(t *testing.T) {
			wantError(t, a.run(t, query, ""), "COMPLEXITY_LIMIT_EXCEEDED")
		})
	}
}

// FuzzLimits looks for documents that crash the limits or the validation.
func FuzzLimits(f *testing.F) {
	f.Add(introspectionQuery(f))
	for _, query := range hostileDocuments() {
		f.Add(query)
	}
	f.Add(`query($n: Int, $i: CreatePostInput) { publicTimeline { posts(first: $n) { edges { node { ...P } } } } } fragment P on Post { ...P }`)
	f.Add(`subscription($id: ID, $after: Cursor) { events: timelineEvents(timelineId: $id, after: $after) { __typename cursor } }`)
	a := newAPI(graph.Options{})
	f.Fuzz(func(t *testing.T, query string) {
		ctx := graphql.StartOperationTrace(t.Context())
		_, _ = a.executor.CreateOperationContext(ctx, &graphql.RawParams{
			Query: query, Variables: map[string]any{"n": "x", "i": []any{nil, map[string]any{"text": 1}}},
		})
	})
}
