package limits_test

import (
	"fmt"
	"strings"
)

// everyField selects all fields of an author except connections.
const everyField = `author {
	id username displayName bio createdAt postCount followerCount followingCount viewerFollows followsViewer timeline { id kind owner { id } }
}`

// nest returns an operation of the given depth, an odd number.
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

// chain returns fragments on User that each spread the next.
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

// hostileDocuments returns documents of a few kilobytes whose validation would take seconds, or produce very many errors.
func hostileDocuments() map[string]string {
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
		"conflicts in inline fragments": `{` + strings.Repeat("...{", 17) + `publicTimeline {` + strings.Repeat(" id", 50) + `} publicTimeline {` +
			strings.Repeat(" id: kind", 49) + `}` + strings.Repeat("}", 17) + `}`,
		"unknown fields":                    `{ ` + strings.Repeat("publicTimelin ", 900) + ` }`,
		"operations with a common fragment": operations.String() + fragments(1, "Viewer", func(int) string { return strings.Repeat("id ", 100) }),
		"tokens":                            `{ nodes(ids: [` + strings.Repeat("1 ", 2000) + `]) { id } }`,
	}
}

// slowDocuments returns documents within the bounds that are made to keep the lexer busy, or rules of validation that compare
// fields or search for similar names.
func slowDocuments() map[string]string {
	repeat := func(n int, text func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(text(i))
		}
		return b.String()
	}
	return map[string]string{
		"fields that double through fragments": `{ user(username: "alice") { ...F0 } }` + fragments(60, "User", func(i int) string {
			return fmt.Sprintf("timeline { owner { ...F%d } } timeline { owner { ...F%d } }", i+1, i+1)
		}),
		"fields merged from two sides": `{ viewer { a: user { ...F0 } a: user { ...F0 } } }` + fragments(40, "User", func(i int) string {
			return fmt.Sprintf("a: timeline { b: owner { ...F%d } } a: timeline { b: owner { ...F%d id } }", i+1, i+1)
		}),
		"pairs of fragments": `{ user(username: "alice") {` + repeat(100, func(i int) string { return fmt.Sprintf(" ...F%d", i) }) + ` } }` +
			fragments(100, "User", func(i int) string { return fmt.Sprintf("id a: timeline { id } ...F%d", i+1) }),
		"a circle of fragments": `{ user(username: "alice") { ...F0 } }` + repeat(90, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User { timeline { owner { ...F%d ...F%d } } }", i, (i+1)%90, (i+7)%90)
		}),
		"a fragment that spreads itself":  `{ user(username: "alice") { ...F } } fragment F on User { ...F timeline { owner { ...F ...F } } }`,
		"conflicts of many fields":        `{ viewer {` + repeat(49, func(i int) string { return fmt.Sprintf(" a: user { id } a%d: id a: id", i) }) + ` } }`,
		"the same field, a hundred times": `{ publicTimeline { posts {` + strings.Repeat(" edges { node { author { id } } }", 99) + ` } } }`,
		"operations that share fragments": repeat(20, func(i int) string { return fmt.Sprintf("query Q%d { user(username: \"a\") { ...F0 } } ", i) }) +
			fragments(80, "User", func(i int) string { return fmt.Sprintf("timeline { owner { id } } ...F%d", i+1) }),
		"unknown fields":      `{ viewer {` + repeat(490, func(i int) string { return fmt.Sprintf(" homeTimelin%d", i) }) + ` } }`,
		"unknown arguments":   `{ newestUsers(` + repeat(600, func(i int) string { return fmt.Sprintf(" firs%d: 1", i) }) + `) { totalCount } }`,
		"unknown types":       repeat(90, func(i int) string { return fmt.Sprintf("fragment F%d on Timelin%d { id } ", i, i) }) + `{ viewer { id } }`,
		"unused variables":    `query(` + repeat(490, func(i int) string { return fmt.Sprintf(" $v%d: Int", i) }) + `) { viewer { id } }`,
		"undefined variables": `{ viewer {` + repeat(200, func(i int) string { return fmt.Sprintf(" id @skip(if: $v%d)", i) }) + ` } }`,
		"undefined variables in fragments": repeat(20, func(i int) string { return fmt.Sprintf("query Q%d { viewer { ...F0 } } ", i) }) +
			fragments(20, "Viewer", func(i int) string {
				return fmt.Sprintf("homeTimeline { posts(first: $v%d) { liveCursor } } ...F%d", i, i+1)
			}),
		"variables of many types":     `query(` + repeat(300, func(i int) string { return fmt.Sprintf(" $v%d: [[[[Timelin!]!]!]!]!", i) }) + `) { viewer { id } }`,
		"lists within lists":          `{ nodes(ids: ` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `) { id } }`,
		"objects within objects":      `mutation { login(input: ` + strings.Repeat("{a: ", 450) + "1" + strings.Repeat("}", 450) + `) { token } }`,
		"unknown input fields":        `mutation { login(input: {` + repeat(490, func(i int) string { return fmt.Sprintf(" usernam%d: 1", i) }) + `}) { token } }`,
		"directives":                  `{ viewer @skip(if: true)` + strings.Repeat(" @skip(if: true)", 49) + ` { id } }`,
		"unknown directives":          `{ viewer` + repeat(50, func(i int) string { return fmt.Sprintf(" @ski%d", i) }) + ` { id } }`,
		"names of the maximum length": `{ viewer {` + repeat(490, func(i int) string { return fmt.Sprintf(" homeTimelin%053d", i) }) + ` } }`,
		"types of the maximum length": repeat(90, func(i int) string { return fmt.Sprintf("fragment F%d on Timelin%057d { id } ", i, i) }) + `{ viewer { id } }`,
		"white space":                 `{` + strings.Repeat(" ,\n", 80_000) + `nothing }`,
		"braces":                      strings.Repeat("{a", 125_000),
		"parentheses":                 `{ a(b: ` + strings.Repeat("{c:", 80_000),
		"nothing but quotes":          `{ user(username: ` + strings.Repeat(`""`, 120_000),
	}
}
