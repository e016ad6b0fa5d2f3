package graph

import (
	"fmt"
	"strings"
)

// nasty returns documents that are small enough to be looked at, and made to keep busy who
// does: rules of validation that compare or look for what is similar, and the lexer.
func nasty() map[string]string {
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
		"fields of two sides": `{ viewer { a: user { ...F0 } a: user { ...F0 } } }` + fragments(40, "User", func(i int) string {
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
		"variables of many types":      `query(` + repeat(300, func(i int) string { return fmt.Sprintf(" $v%d: [[[[Timelin!]!]!]!]!", i) }) + `) { viewer { id } }`,
		"lists within lists":           `{ nodes(ids: ` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `) { id } }`,
		"objects within objects":       `mutation { login(input: ` + strings.Repeat("{a: ", 450) + "1" + strings.Repeat("}", 450) + `) { token } }`,
		"unknown input fields":         `mutation { login(input: {` + repeat(490, func(i int) string { return fmt.Sprintf(" usernam%d: 1", i) }) + `}) { token } }`,
		"directives":                   `{ viewer @skip(if: true)` + strings.Repeat(" @skip(if: true)", 49) + ` { id } }`,
		"unknown directives":           `{ viewer` + repeat(50, func(i int) string { return fmt.Sprintf(" @ski%d", i) }) + ` { id } }`,
		"names as long as they may be": `{ viewer {` + repeat(490, func(i int) string { return fmt.Sprintf(" homeTimelin%053d", i) }) + ` } }`,
		"types as long as they may be": repeat(90, func(i int) string { return fmt.Sprintf("fragment F%d on Timelin%057d { id } ", i, i) }) + `{ viewer { id } }`,
		"white space":                  `{` + strings.Repeat(" ,\n", 80_000) + `nothing }`,
		"braces":                       strings.Repeat("{a", 125_000),
		"parentheses":                  `{ a(b: ` + strings.Repeat("{c:", 80_000),
		"nothing but quotes":           `{ user(username: ` + strings.Repeat(`""`, 120_000),
	}
}
