package limits_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
	"retwis/internal/retwis"
)

// attack is an operation made to keep the service busy, or to provoke a long response.
type attack struct {
	query     string
	variables map[string]any
	codes     []string // allowed codes of its errors
}

// maxRefusal bounds the response to an attack, in bytes.
const maxRefusal = 4 << 10

const (
	complexity = string(retwis.CodeTooComplex)
	badValue   = string(retwis.CodeBadUserInput)
	unparsable = "GRAPHQL_PARSE_FAILED"
	invalid    = "GRAPHQL_VALIDATION_FAILED"
)

// attacks returns all attacks by their names.
func attacks() map[string]attack {
	limits := []string{complexity}
	all := map[string]attack{
		"a deep query":                  {nest(17), nil, limits},
		"a very deep query":             {`{` + strings.Repeat(`node{`, 50_000), nil, limits},
		"a very deep value":             {`{ user(username: ` + strings.Repeat(`[`, 100_000) + `) { id } }`, nil, limits},
		"a very deep type":              {`query($v: ` + strings.Repeat(`[`, 100_000) + `) { viewer { id } }`, nil, limits},
		"a wide query":                  {`{ viewer { ` + strings.Repeat("id ", 1_500) + `} }`, nil, limits},
		"a query with many aliases":     {`{` + aliases(400) + `}`, nil, limits},
		"a circle of one fragment":      {`{ ...F } fragment F on Query { viewer { id } ...F }`, nil, []string{invalid}},
		"a circle of fragments":         {`{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`, nil, []string{invalid}},
		"a circle through fields":       {`{ viewer { user { ...F } } } fragment F on User { timeline { owner { ...F } } }`, nil, []string{invalid}},
		"fragments that double":         {`{ user(username: "a") { ...F0 } }` + doubling(25), nil, limits},
		"unused fragments":              {`{ viewer { id } }` + doubling(25), nil, []string{invalid, complexity}},
		"many directives":               {`{ viewer ` + strings.Repeat("@include(if: true) ", 350) + `{ id } }`, nil, []string{invalid, complexity}},
		"many unknown directives":       {`{ viewer ` + strings.Repeat("@x ", 900) + `{ id } }`, nil, []string{invalid, complexity}},
		"many different directives":     {`{ viewer ` + numbered(600, "@d%d ") + `{ id } }`, nil, []string{invalid, complexity}},
		"many variables":                {`query(` + numbered(450, "$v%d: Int ") + `) { viewer { id } }`, nil, []string{invalid, complexity}},
		"many arguments":                {`{ user(` + numbered(450, "a%d: 1 ") + `) { id } }`, nil, []string{invalid, complexity}},
		"many operations":               {numbered(300, "query Q%d { viewer { id } } "), nil, limits},
		"many unknown fields":           {`{ ` + numbered(450, "f%d ") + `}`, nil, []string{invalid, complexity}},
		"many unknown types":            {`{ ` + numbered(150, "... on T%d { id } ") + `}`, nil, []string{invalid, complexity}},
		"many input fields":             {`mutation { createPost(input: {` + numbered(450, "f%d: 1 ") + `}) { edge { cursor } } }`, nil, []string{invalid, complexity}},
		"a field with a long name":      {`{ ` + strings.Repeat("a", 30_000) + ` }`, nil, limits},
		"fields with long names":        {`{ ` + numbered(20, strings.Repeat("a", 10_000)+"%d ") + `}`, nil, limits},
		"a type with a long name":       {`{ ... on ` + strings.Repeat("T", 30_000) + ` { id } }`, nil, limits},
		"a variable with a long name":   {`{ user(username: $` + strings.Repeat("v", 30_000) + `) { id } }`, nil, limits},
		"an operation with a long name": {`query ` + strings.Repeat("Q", 30_000) + ` { x }`, nil, limits},
		"a long value of a wrong kind":  {`{ publicTimeline { posts(first: "` + strings.Repeat("9", 30_000) + `") { liveCursor } } }`, nil, []string{invalid}},
		"a long number":                 {`{ publicTimeline { posts(first: ` + strings.Repeat("9", 30_000) + `) { liveCursor } } }`, nil, []string{invalid, badValue, complexity}},
		"a long enum value":             {`{ publicTimeline { posts(first: ` + strings.Repeat("X", 30_000) + `) { liveCursor } } }`, nil, limits},
		"a long cursor": {`query($c: Cursor) { publicTimeline { posts(after: $c) { liveCursor } } }`,
			map[string]any{"c": strings.Repeat("x", 30_000)}, []string{badValue}},
		"a cursor of a wrong kind": {`query($c: Cursor) { publicTimeline { posts(after: $c) { liveCursor } } }`,
			map[string]any{"c": slices.Repeat([]any{"x"}, 20_000)}, []string{invalid, badValue, complexity}},
		"a document of many bytes": {`{ viewer { id } } #` + strings.Repeat("x", 33_000), nil, limits},
		"a long variable of a wrong kind": {`query($n: Int) { publicTimeline { posts(first: $n) { liveCursor } } }`,
			map[string]any{"n": strings.Repeat("9", 30_000)}, []string{invalid, badValue, complexity}},
		"a variable that is a list of lists": {`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`,
			map[string]any{"ids": []any{slices.Repeat([]any{1}, 50_000)}}, []string{invalid, badValue, complexity}},
		"too many ids": {`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`,
			map[string]any{"ids": slices.Repeat([]any{"x"}, 50_000)}, []string{badValue, complexity}},
		"a variable with unknown keys": {`mutation($i: LoginInput!) { login(input: $i) { token } }`,
			map[string]any{"i": map[string]any{strings.Repeat("k", 30_000): 1}}, []string{invalid, badValue, complexity}},
		"an undeclared variable": {`query($n: Nothing) { viewer { id } }`,
			map[string]any{strings.Repeat("k", 30_000): 1}, []string{invalid}},
		"a long word that is not GraphQL": {strings.Repeat("x", 30_000), nil, limits},
		"a long string without an end":    {`{ user(username: "` + strings.Repeat("x", 30_000), nil, []string{unparsable}},
		"a long block string":             {`{ user(username: """` + strings.Repeat("x\n", 15_000), nil, []string{unparsable}},
		"a long comment":                  {`#` + strings.Repeat("x", 30_000), nil, []string{unparsable, invalid}},
		"many comments":                   {strings.Repeat("#\n", 100_000), nil, []string{unparsable, invalid, complexity}},
		"many escapes":                    {`{ user(username: "` + strings.Repeat(`\u202e`, 5_000) + `" `, nil, []string{unparsable}},
		"a wrong escape":                  {`{ user(username: "\u` + strings.Repeat("z", 30_000), nil, []string{unparsable}},
		"invalid UTF-8":                   {`{ ` + strings.Repeat("\xff", 30_000) + ` }`, nil, []string{unparsable}},
		"nothing":                         {``, nil, []string{unparsable, invalid}},
		"an introspection that nests":     {`{ __schema { types { ` + strings.Repeat(`fields { type { `, 60) + `name` + strings.Repeat(` } }`, 60) + ` } } }`, nil, []string{invalid, complexity}},
		"introspections":                  {`{ ` + schemas(10) + ` }`, nil, limits},
		"fields below nested inline fragments": {
			`{ publicTimeline { ` + strings.Repeat(`... { `, 17) + strings.Repeat(`id `, 99) + strings.Repeat(`} `, 17) + `} }`, nil, limits},
		"inline fragments that lead through all fragments": {`{ ...F0 } ` + fragments(15, "Query", func(i int) string {
			return `... { ... { ...F` + fmt.Sprint(i+1) + ` } }`
		}), nil, limits},
		"the same in fragments that are not used": {`{ __typename } ` + fragments(15, "Query", func(i int) string {
			return `... { ... { ...F` + fmt.Sprint(i+1) + ` } }`
		}), nil, limits},
		"arguments that are compared": {`{ publicTimeline { ` + strings.Repeat(`... { `, 10) +
			strings.Repeat(`posts(after: {`+numbered(31, "k%d: 0 ")+`}) { liveCursor } `, 9) + strings.Repeat(`} `, 10) + `} }`, nil, limits},
		"arguments that are compared across fragments": {`{ publicTimeline { ...A ...B } } ` + numbered(8, "fragment F%d on Timeline { id } ") +
			`fragment A on Timeline { ` + strings.Repeat(`posts(after: [`+strings.Repeat("0 ", 31)+`]) { liveCursor } `, 16) + `} ` +
			`fragment B on Timeline { ` + strings.Repeat(`posts(after: [`+strings.Repeat("0 ", 31)+`]) { liveCursor } `, 16) + `}`, nil, limits},
		"arguments of one name": {`{ ` + strings.Repeat(`... { `, 17) +
			`newestUsers(` + strings.Repeat(`after: {b: 1} `, 136) + `after: {b: 2}) { __typename } ` +
			`newestUsers(` + strings.Repeat(`after: {b: 2} `, 136) + `after: {b: 1}) { __typename } ` + strings.Repeat(`} `, 18), nil, limits},
		"fields compared with a fragment in each of the fragments around them": {`{ ` + strings.Repeat(`... { `, 18) + `viewer { ` + strings.Repeat(`id `, 49) + `} ...F ` +
			strings.Repeat(`} `, 19) + `fragment F on Query { viewer { ` + strings.Repeat(`id `, 49) + `} }`, nil, limits},
		"the same in one fragment that spreads itself": {`{ ...F } fragment F on Query { ` + strings.Repeat(`... { `, 18) + `viewer { ` + strings.Repeat(`id `, 99) + `} ...F ` +
			strings.Repeat(`} `, 19), nil, limits},
		"spreads compared with each other in each of the fragments around them": {`{ ` + strings.Repeat(`... { `, 17) + numbered(20, `...F%d `) + numbered(20, `...F%d `) +
			strings.Repeat(`} `, 18) + numbered(20, `fragment F%d on Query { viewer { id } } `), nil, limits},
		"numbers too small for a float":        {`{ publicTimeline { posts { edges { node { likers(first: 1, after: [` + strings.Repeat(`1e-310 `, 1900) + `]) { totalCount } } } } } }`, nil, []string{invalid}},
		"numbers too large for a float":        {`query($v: [Float] = [` + strings.Repeat(`9e308 `, 500) + `]) { newestUsers(after: {x: $v}) { __typename } }`, nil, []string{invalid}},
		"numbers between two floats":           {`subscription { timelineEvents(filter: {sample: 898846567431158053651e287}) { cursor } }`, nil, []string{invalid}},
		"an integer too large for an argument": {`{ publicTimeline { posts(after: 99999999999999999999) { liveCursor } } }`, nil, []string{invalid}},
		"numbers of many digits":               {`{ newestUsers(after: {x: 516131359247756323278e98}) { __typename } }`, nil, []string{invalid}},
		"a list in place of a cursor": {`{ publicTimeline { posts(first: 25) { edges { node { likers(first: 1, after: [` + strings.Repeat(`516131359247756 `, 600) +
			`]) { totalCount } } } } } }`, nil, []string{invalid}},
		"numbers in the middle between two floats": {`subscription { timelineEvents(filter: {track: [[` + strings.Repeat(`9007199254740993e0 `, 1500) + `]]}) { cursor } }`, nil, limits},
		"an object in place of a cursor": {`query($v: [Float]) { newestUsers(after: {x: $v}) { __typename } }`,
			map[string]any{"v": slices.Repeat([]any{"1e-310"}, 990)}, []string{invalid}},
		"a number in quotes": {`query($n: Int) { publicTimeline { unreadCount(atMost: $n) } }`,
			map[string]any{"n": strings.Repeat("0", 250_000) + "5"}, []string{invalid}},
		"numbers in quotes in an object": {`subscription($f: [TimelineFilter!]) { timelineEvents(filter: $f) { cursor } }`,
			map[string]any{"f": []any{map[string]any{"sample": "1e-310"}}}, []string{invalid}},
		"names looked for in other selection sets": {`{ viewer { id } } fragment A on Query { ` + strings.Repeat(`... { `, 16) + `viewer { id { ... on X { ` + numbered(300, "n%d ") +
			`} } } viewer { ` + strings.Repeat(`id `, 150) + `} ` + strings.Repeat(`} `, 17) + numbered(2, `fragment B%d on Query { ...A } `), nil, limits},
		"a default value that is used often": {`subscription q($a: [Int] = [` + strings.Repeat(`0 `, 800) + `]) { ...F1 } ` + fragments(16, "Subscription", func(i int) string {
			if i < 15 {
				return `...F` + fmt.Sprint(i+1)
			}
			return `timelineEvents(filter: {track: [[` + strings.Repeat(`$a `, 400) + `]]}) { cursor }`
		}), nil, []string{invalid}},
		"variables that are too small for a float": {`query($v: [Float]) { newestUsers(after: {x: $v}) { __typename } }`,
			map[string]any{"v": slices.Repeat([]any{json.Number("1e-310")}, 990)}, []string{badValue}},
		"conflicts below two fields of one name, in several operations": {numbered(10, `query O%d { publicTimeline { ...F } } `) +
			`fragment F on Timeline { posts { edges { node { author { ` + strings.Repeat(`id `, 40) + `} author { ` + strings.Repeat(`id: username `, 40) + `} } } } }`, nil, limits},
		"long values in nested lists": {`{ newestUsers(first: ` + strings.Repeat(`[`, 6) + `"` + strings.Repeat("\x7f", 14_500) + `"` + strings.Repeat(`]`, 6) + `) { edges { cursor } } }`, nil, limits},
		"a name behind a digit":       {`mutation { createPost(input: {text: "" x: 0` + strings.Repeat("k", 30_000) + `: 0}) { edge { cursor } } }`, nil, limits},
		"more conditions than a plan has": {
			`query(` + numbered(17, `$v%d: Boolean = true `) + `) { ` + numbered(17, `... @include(if: $v%d) { __typename } `) + `}`, nil, limits},
		"inline fragments at many positions": {
			`{ ` + numbered(29, `r%d: node(id: "x") { ...F } `) + `} fragment F on Node { ` + strings.Repeat(strings.Repeat(`... { `, 18)+`id`+strings.Repeat(` }`, 18), 22) + ` }`,
			nil, limits},
	}
	for name, query := range hostileDocuments() {
		all[name] = attack{query, nil, limits}
	}
	for name, query := range slowDocuments() {
		all[name] = attack{query, nil, []string{complexity, invalid, unparsable}}
	}
	return all
}

// doubling returns fragments that each spread the next one twice.
func doubling(n int) string {
	return fragments(n, "User", func(i int) string { return fmt.Sprintf("...F%d timeline { owner { ...F%d } }", i+1, i+1) })
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func (a *api) attack(t testing.TB, attack attack) *graphql.Response {
	t.Helper()
	return a.send(t.Context(), &graphql.RawParams{Query: attack.query, Variables: attack.variables})
}

func TestLimits_RefuseAttacksBriefly(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string]graph.Options{"open": {Introspection: true}, "in production": {}} {
		a := newAPI(options)
		for name, attack := range attacks() {
			t.Run(name+", "+mode, func(t *testing.T) {
				response := a.attack(t, attack)
				if len(response.Errors) == 0 {
					t.Fatalf("got the data %.200s, want an error", response.Data)
				}
				for _, err := range response.Errors {
					if code, _ := err.Extensions["code"].(string); !slices.Contains(attack.codes, code) {
						t.Errorf("got %s: %.200s", code, err.Message)
					}
					if !options.Introspection && strings.Contains(err.Message, "Did you mean") {
						t.Errorf("the error has a suggestion: %.200s", err.Message)
					}
				}
				body, err := json.Marshal(response)
				if err != nil {
					t.Fatal(err)
				}
				if len(body) > maxRefusal {
					t.Errorf("the response has %d bytes, want at most %d: %.300s", len(body), maxRefusal, body)
				}
			})
		}
	}
}

// BenchmarkAttack measures the cost of refusing each attack, next to a small query that the executor has not seen before.
func BenchmarkAttack(b *testing.B) {
	const rounds = 500
	a := newAPI(graph.Options{})
	start := time.Now()
	for i := range rounds {
		_ = a.attack(b, attack{query: fmt.Sprintf(`query Q%d { user(username: "alice") { id username displayName } }`, i)})
	}
	small := float64(time.Since(start)) / rounds

	whole := attacks()
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = a.attack(b, whole[name])
			}
			refused := float64(b.Elapsed()) / float64(b.N)
			b.ReportMetric(refused/1e6, "ms/refusal")
			b.ReportMetric(refused/small, "x-small-query")
		})
	}
}
