package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// everyField selects all fields of an author that are not connections.
const everyField = `author {
	id username displayName bio createdAt postCount followerCount followingCount viewerFollows followsViewer timeline { id kind owner { id } }
}`

func TestOperationsWithinTheLimits(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	a.addPost(a.addUser("alice"), "one")
	tests := []struct{ name, query, variables string }{
		{"the standard introspection query", readFile(t, "testdata/introspection.graphql"), ""},
		{"a page of 100 posts with everything about their authors", `{ publicTimeline { id kind posts(first: 100) {
			edges { cursor node { id text createdAt mentions { id username displayName } ` + everyField + ` } }
			pageInfo { hasNextPage hasPreviousPage startCursor endCursor } liveCursor } } }`, ""},
		{"the same with a variable", `query($n: Int = 100) { publicTimeline { posts(first: $n) {
			edges { cursor node { id text createdAt ` + everyField + ` } } } } }`, ""},
		{"100 followers with 20 posts each", `{ user(username: "alice") { followers(first: 100) {
			totalCount edges { node { timeline { posts { edges { node { id } } } } } } } } }`, ""},
		{"20 lists with 20 members and 20 posts each", `{ viewer { lists { edges { cursor node { id name owner { username } createdAt
			members { totalCount edges { followedAt node { id username } } }
			timeline { id posts { edges { node { id text } } } } } } } } }`, ""},
		{"100 nodes", `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Post { id text ` + everyField + ` } } }`,
			`{"ids": ["` + strings.Repeat(`a", "`, 99) + `a"]}`},
		{"15 fields deep", nest(15), ""},
		{"30 fields at the root", `{` + aliases(30) + `}`, ""},
		{"50 aliases", `{ viewer {` + strings.ReplaceAll(aliases(50), "viewer", "user") + `} }`, ""},
		{"50 directives", `{ viewer @include(if: true) {` + strings.Repeat(" id @skip(if: false)", 49) + `} }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if response := a.run(as(t, nil), tt.query, tt.variables); len(response.Errors) > 0 {
				t.Error(response.Errors)
			}
		})
	}
}

// nest returns an operation with as many fields within each other, an odd number.
func nest(depth int) string {
	levels := (depth - 3) / 2 // between user and timeline { id }
	return `{ user(username: "alice") { ` + strings.Repeat("timeline { owner { ", levels) + "timeline { id }" + strings.Repeat(" } }", levels) + ` } }`
}

func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: viewer { __typename } ", i)
	}
	return b.String()
}

func TestOperationsBeyondTheLimits(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	a.addUser("alice")
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
		{"pages about those who are mentioned", `{ publicTimeline { posts(first: 100) { edges { node { mentions {
			followers { totalCount } } } } } } }`, ""},
		{"lists with all their members' followers", `{ viewer { lists(first: 10) { edges { node { members(first: 100) { edges { node {
			followers { totalCount } } } } } } } } }`, ""},
		{"pages of pages by variables", `query($n: Int, $m: Int = 100) { user(username: "alice") { followers(last: $n) { edges { node {
			following(first: $m) { edges { node { id } } } } } } } }`, `{"n": 100}`},
		{"pages of pages of the default size", `{ user(username: "alice") { followers { edges { node { followers { edges { node {
			followers { edges { node { id } } } } } } } } } } }`, ""},
		{"pages of what a search finds", `{ searchUsers(prefix: "a", first: 50) { edges { node { commonFollowers(with: "x", first: 100) {
			edges { node { id username } } } } } } }`, ""},
		{"pages of the newest users", `{ newestUsers(first: 100) { edges { node { followersYouKnow(last: 50) { edges { node { id } } } } } } }`, ""},
		{"pages of a size that is refused anyway", `{ user(username: "alice") { followers(first: -100000) { edges { node {
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
			wantError(t, a.run(as(t, nil), tt.query, tt.variables), "COMPLEXITY_LIMIT_EXCEEDED")
		})
	}
	if len(a.calls) > 0 {
		t.Errorf("made the calls %q", a.calls)
	}
}

// chain returns fragments on User, each of which spreads the next.
func chain(n int, body string) string {
	return fragments(n, "User", func(i int) string { return fmt.Sprintf(body, i+1) })
}

func fragments(n int, on string, body func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " fragment F%d on %s { %s }", i, on, body(i))
	}
	fmt.Fprintf(&b, " fragment F%d on %s { __typename }", n, on)
	return b.String()
}

func schemas(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "s%d: __schema { types { fields { args { type { name } } type { fields { name } } } } } ", i)
	}
	return b.String()
}

// hostile returns documents of a few kilobytes that validation would take long for, or
// answer at length.
func hostile() map[string]string {
	nested := func(open string, n int) string {
		return `{ viewer { ` + strings.Repeat(open, n) + `id` + strings.Repeat(`}`, n) + ` } }`
	}
	var operations strings.Builder
	for i := range 100 {
		fmt.Fprintf(&operations, "query Q%d { viewer { ...F0 } } ", i)
	}
	return map[string]string{
		"inline fragments within each other": nested("... { id ", 400),
		"fields within each other":           nested("user { ", 400),
		"the same field again and again":     `{ viewer { ` + strings.Repeat("id ", 900) + ` } }`,
		"conflicts":                          `{ viewer { ` + strings.Repeat("a: id a: user { id } ", 150) + ` } }`,
		"unknown fields":                     `{ ` + strings.Repeat("publicTimelin ", 900) + ` }`,
		"operations that share a fragment":   operations.String() + fragments(1, "Viewer", func(int) string { return strings.Repeat("id ", 100) }),
		"tokens":                             `{ nodes(ids: [` + strings.Repeat("1 ", 2000) + `]) { id } }`,
	}
}

func TestHostileDocumentsAreNotValidated(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for name, query := range hostile() {
		t.Run(name, func(t *testing.T) {
			wantError(t, a.run(as(t, nil), query, ""), "COMPLEXITY_LIMIT_EXCEEDED")
		})
	}
}

func TestErrorsOfADocumentAreFew(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	response := a.run(as(t, nil), `{ viewer { `+strings.Repeat("a: id a: user { id } ", 25)+` } }`, "")
	if n := len(response.Errors); n < 2 || n > maxErrors {
		t.Errorf("got %d errors, want %d at most", n, maxErrors)
	}
}

// FuzzLimits looks for documents that crash what reads them.
func FuzzLimits(f *testing.F) {
	f.Add(readFile(&testing.T{}, "testdata/introspection.graphql"))
	for _, query := range hostile() {
		f.Add(query)
	}
	f.Add(`query($n: Int, $i: CreatePostInput) { publicTimeline { posts(first: $n) { edges { node { ...P } } } } } fragment P on Post { ...P }`)
	f.Add(eventsQuery)
	a := newAPI(Options{})
	f.Fuzz(func(t *testing.T, query string) {
		ctx := graphql.StartOperationTrace(t.Context())
		_, _ = a.executor.Executor.CreateOperationContext(ctx, &graphql.RawParams{
			Query: query, Variables: map[string]any{"n": "x", "i": []any{nil, map[string]any{"text": 1}}},
		})
	})
}
