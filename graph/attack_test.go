package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/retwis"
)

// attack is an operation that is sent to keep the service busy, or to be answered at
// length.
type attack struct {
	query     string
	variables map[string]any
	codes     []string // of which each error has one
}

// maxRefusal is how long, in bytes, the answer to an attack may be.
const maxRefusal = 4 << 10

const (
	complexity = string(retwis.CodeTooComplex)
	badValue   = string(retwis.CodeBadUserInput)
	unparsable = "GRAPHQL_PARSE_FAILED"
	invalid    = "GRAPHQL_VALIDATION_FAILED"
)

// attacks returns them by what they are. Those of hostile are among them.
func attacks() map[string]attack {
	limits := []string{complexity}
	all := map[string]attack{
		"a deep query":                    {nest(17), nil, limits},
		"a very deep query":               {`{` + strings.Repeat(`node{`, 50_000), nil, limits},
		"a very deep value":               {`{ user(username: ` + strings.Repeat(`[`, 100_000) + `) { id } }`, nil, limits},
		"a very deep type":                {`query($v: ` + strings.Repeat(`[`, 100_000) + `) { viewer { id } }`, nil, limits},
		"a wide query":                    {`{ viewer { ` + strings.Repeat("id ", 1_500) + `} }`, nil, limits},
		"a query with many aliases":       {`{` + aliases(400) + `}`, nil, limits},
		"a circle of one fragment":        {`{ ...F } fragment F on Query { viewer { id } ...F }`, nil, []string{invalid}},
		"a circle of fragments":           {`{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`, nil, []string{invalid}},
		"a circle through fields":         {`{ viewer { user { ...F } } } fragment F on User { timeline { owner { ...F } } }`, nil, []string{invalid}},
		"fragments that double":           {`{ user(username: "a") { ...F0 } }` + doubling(25), nil, limits},
		"fragments that nobody spreads":   {`{ viewer { id } }` + doubling(25), nil, []string{invalid, complexity}},
		"a flood of directives":           {`{ viewer ` + strings.Repeat("@include(if: true) ", 350) + `{ id } }`, nil, []string{invalid, complexity}},
		"a flood of unknown directives":   {`{ viewer ` + strings.Repeat("@x ", 900) + `{ id } }`, nil, []string{invalid, complexity}},
		"a flood of different directives": {`{ viewer ` + numbered(600, "@d%d ") + `{ id } }`, nil, []string{invalid, complexity}},
		"a flood of variables":            {`query(` + numbered(450, "$v%d: Int ") + `) { viewer { id } }`, nil, []string{invalid, complexity}},
		"a flood of arguments":            {`{ user(` + numbered(450, "a%d: 1 ") + `) { id } }`, nil, []string{invalid, complexity}},
		"a flood of operations":           {numbered(300, "query Q%d { viewer { id } } "), nil, limits},
		"a flood of unknown fields":       {`{ ` + numbered(450, "f%d ") + `}`, nil, []string{invalid, complexity}},
		"a flood of unknown types":        {`{ ` + numbered(150, "... on T%d { id } ") + `}`, nil, []string{invalid, complexity}},
		"a flood of input fields":         {`mutation { createPost(input: {` + numbered(450, "f%d: 1 ") + `}) { edge { cursor } } }`, nil, []string{invalid, complexity}},
		"a field with a long name":        {`{ ` + strings.Repeat("a", 200_000) + ` }`, nil, limits},
		"fields with long names":          {`{ ` + numbered(20, strings.Repeat("a", 10_000)+"%d ") + `}`, nil, limits},
		"a type with a long name":         {`{ ... on ` + strings.Repeat("T", 200_000) + ` { id } }`, nil, limits},
		"a variable with a long name":     {`{ user(username: $` + strings.Repeat("v", 200_000) + `) { id } }`, nil, limits},
		"an operation with a long name":   {`query ` + strings.Repeat("Q", 200_000) + ` { x }`, nil, limits},
		"a long value of a wrong kind":    {`{ publicTimeline { posts(first: "` + strings.Repeat("9", 200_000) + `") { liveCursor } } }`, nil, []string{invalid}},
		"a long number":                   {`{ publicTimeline { posts(first: ` + strings.Repeat("9", 200_000) + `) { liveCursor } } }`, nil, []string{invalid, badValue, complexity}},
		"a long enum value":               {`{ publicTimeline { posts(first: ` + strings.Repeat("X", 200_000) + `) { liveCursor } } }`, nil, limits},
		"a long cursor": {`query($c: Cursor) { publicTimeline { posts(after: $c) { liveCursor } } }`,
			map[string]any{"c": strings.Repeat("x", 200_000)}, []string{badValue}},
		"a cursor of a wrong kind": {`query($c: Cursor) { publicTimeline { posts(after: $c) { liveCursor } } }`,
			map[string]any{"c": slices.Repeat([]any{"x"}, 20_000)}, []string{invalid, badValue, complexity}},
		"a long variable of a wrong kind": {`query($n: Int) { publicTimeline { posts(first: $n) { liveCursor } } }`,
			map[string]any{"n": strings.Repeat("9", 200_000)}, []string{invalid, badValue, complexity}},
		"a variable that is a list of lists": {`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`,
			map[string]any{"ids": []any{slices.Repeat([]any{1}, 50_000)}}, []string{invalid, badValue, complexity}},
		"too many ids": {`query($ids: [ID!]!) { nodes(ids: $ids) { id } }`,
			map[string]any{"ids": slices.Repeat([]any{"x"}, 50_000)}, []string{badValue, complexity}},
		"a variable with unknown keys": {`mutation($i: LoginInput!) { login(input: $i) { token } }`,
			map[string]any{"i": map[string]any{strings.Repeat("k", 200_000): 1}}, []string{invalid, badValue, complexity}},
		"a variable nobody declared": {`query($n: Nothing) { viewer { id } }`,
			map[string]any{strings.Repeat("k", 200_000): 1}, []string{invalid}},
		"a long word that is no GraphQL": {strings.Repeat("x", 200_000), nil, limits},
		"a long string without an end":   {`{ user(username: "` + strings.Repeat("x", 200_000), nil, []string{unparsable}},
		"a long block string":            {`{ user(username: """` + strings.Repeat("x\n", 100_000), nil, []string{unparsable}},
		"a long comment":                 {`#` + strings.Repeat("x", 200_000), nil, []string{unparsable, invalid}},
		"many comments":                  {strings.Repeat("#\n", 100_000), nil, []string{unparsable, invalid, complexity}},
		"many escapes":                   {`{ user(username: "` + strings.Repeat(`\u202e`, 30_000) + `" `, nil, []string{unparsable}},
		"a wrong escape":                 {`{ user(username: "\u` + strings.Repeat("z", 200_000), nil, []string{unparsable}},
		"what is no UTF-8":               {`{ ` + strings.Repeat("\xff", 200_000) + ` }`, nil, []string{unparsable}},
		"nothing":                        {``, nil, []string{unparsable, invalid}},
		"an introspection that nests":    {`{ __schema { types { ` + strings.Repeat(`fields { type { `, 60) + `name` + strings.Repeat(` } }`, 60) + ` } } }`, nil, []string{invalid, complexity}},
		"introspections":                 {`{ ` + schemas(10) + ` }`, nil, limits},
	}
	for name, query := range hostile() {
		all[name] = attack{query, nil, limits}
	}
	for name, query := range nasty() {
		all[name] = attack{query, nil, []string{complexity, invalid, unparsable}}
	}
	return all
}

// doubling returns fragments of which each spreads the next one twice.
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

// prepare does what a transport does before an operation is run.
func (a *api) prepare(t testing.TB, attack attack) *graphql.Response {
	t.Helper()
	ctx := graphql.StartOperationTrace(t.Context())
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: attack.query, Variables: attack.variables})
	if len(errs) > 0 {
		return a.executor.DispatchError(graphql.WithOperationContext(ctx, op), errs)
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	return responses(ctx)
}

func TestAttacksAreRefusedInFewWords(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string]Options{"open": {Introspection: true}, "in production": {}} {
		a := newAPI(options)
		a.addUser("alice")
		for name, attack := range attacks() {
			t.Run(name+", "+mode, func(t *testing.T) {
				response := a.prepare(t, attack)
				if len(response.Errors) == 0 {
					t.Fatalf("it is answered: %.200s", response.Data)
				}
				for _, err := range response.Errors {
					if code, _ := err.Extensions["code"].(string); !slices.Contains(attack.codes, code) {
						t.Errorf("got %s: %.200s", code, err.Message)
					}
					if !options.Introspection && strings.Contains(err.Message, "Did you mean") {
						t.Errorf("it suggests: %.200s", err.Message)
					}
				}
				body, err := json.Marshal(response)
				if err != nil {
					t.Fatal(err)
				}
				if len(body) > maxRefusal {
					t.Errorf("the answer has %d bytes: %.300s", len(body), body)
				}
			})
		}
	}
}

// BenchmarkAttack measures what it costs to refuse each attack, beside a small query that
// the same executor has not seen before either.
func BenchmarkAttack(b *testing.B) {
	const rounds = 500
	a := newAPI(Options{})
	a.addUser("alice")
	start := time.Now()
	for i := range rounds {
		_ = a.prepare(b, attack{query: fmt.Sprintf(`query Q%d { user(username: "alice") { id username displayName } }`, i)})
	}
	small := float64(time.Since(start)) / rounds

	whole := attacks()
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = a.prepare(b, whole[name])
			}
			refused := float64(b.Elapsed()) / float64(b.N)
			b.ReportMetric(refused/1e6, "ms/refusal")
			b.ReportMetric(refused/small, "x-small-query")
		})
	}
}
