package limits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"retwis/graph"
	"retwis/graph/limits"
	"retwis/internal/cost"
)

func TestReadDocument_IgnoresCommentsAndWhiteSpace(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, want string }{
		{"{viewer{id}}", "{ viewer { id } }"},
		{"# one\n{ viewer,{\tid # two\r\n } }\n#", "{ viewer { id } }"},
		{"\ufeff{a(b:[1,-2.5e+3,$c])@d ...F ...on T{id}}", "{ a ( b : [ 1 -2.5e+3 $ c ] ) @ d ... F ... on T { id } }"},
		{`{a(b:"x  # \" y",c:"""z """)}`, `{ a ( b : "x  # \" y" c : """z """ ) }`},
		{`{a(b:"""x\"""" #"""")}`, `{ a ( b : """x\"""" #"""" ) }`},
		{"{ a(b: \"no end\n) }", "{ a(b: \"no end\n) }"},
		{"{ a % b }", "{ a % b }"},
		{"{a(b:[0x1-1.5e-3.5])}", "{a(b:[0x1-1.5e-3.5])}"},
		{"{a(b:[0x 1-1.5e-3b])}", "{ a ( b : [ 0 x 1 -1.5e-3 b ] ) }"},
		{"{a(b:01)}", "{a(b:01)}"},
		{"{a(b:2e)}", "{a(b:2e)}"},
		{"{a(b:-)}", "{a(b:-)}"},
		{"{ a # \x01\n}", "{ a # \x01\n}"},
	}
	for _, tt := range tests {
		d, err := limits.ReadDocument(tt.source)
		if err != nil || d.Text != tt.want {
			t.Errorf("%q: got %q, %v; want %q", tt.source, d.Text, err, tt.want)
		}
	}
}

// FuzzReadDocument compares the tokens of a document and of its normal form.
func FuzzReadDocument(f *testing.F) {
	for _, attack := range attacks() {
		f.Add(attack.query)
	}
	f.Add(`{a(b:"""x\"""" #"""", c: "\\")} # x`)
	f.Add(`{a(b:[` + strings.Repeat("1-0x.5", 50) + `])}`)
	f.Add(`{a(b:` + strings.Repeat("-1.5e3-0x", 50) + `, c:01, d:1.e, e:2e)}`)
	tokens := func(text string) []string {
		var all []string
		lex := lexer.New(&ast.Source{Input: text})
		for {
			token, err := lex.ReadToken()
			switch {
			case err != nil:
				return append(all, "error")
			case token.Kind == lexer.EOF:
				return all
			case token.Kind != lexer.Comment:
				all = append(all, token.Kind.String()+token.Value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		d, err := limits.ReadDocument(source)
		if err != nil {
			return
		}
		got, want := tokens(d.Text), tokens(source)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the tokens of %q are %q, those of the source %q", d.Text, got, want)
		}
		if !slices.Contains(want, "error") && d.ParseCost() < len(want)/2 {
			t.Errorf("%q has %d tokens and costs %d", source, len(want), d.ParseCost())
		}
		if again, err := limits.ReadDocument(d.Text); err != nil || again.Text != d.Text {
			t.Errorf("the normal form %q has the normal form %q, %v", d.Text, again.Text, err)
		}
	})
}

func TestDocument_ErrorsHavePositionsInTheSource(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	const head = "# a comment, é\n\n{\n  "
	for _, tt := range []struct {
		query        string
		line, column int
	}{
		{head + `nothing }`, 4, 3},
		{head + `user(username: """two
			lines""") { id } nothing }`, 5, 21},
		{head + `user(username: "x") { id`, 4, 27},
		{head + `viewer { %`, 4, 12},
		{head + `user(username: "alice") { commonFollowers(first: 0, with: "x") { totalCount } } }`, 4, 29},
		{head + `user(username: "alice") { commonFollowers(first: 0, with: "x") { totalCount } } } # cached`, 4, 29},
	} {
		response := a.run(t, tt.query, "")
		if len(response.Errors) == 0 || len(response.Errors[0].Locations) != 1 {
			t.Fatalf("%s: got %v", tt.query, response.Errors)
		}
		if at := response.Errors[0].Locations[0]; at.Line != tt.line || at.Column != tt.column {
			t.Errorf("%s: the error is at %v, want %d:%d", tt.query, at, tt.line, tt.column)
		}
	}
}

// Attack: parsing and validation must not be free if the selected operation is cheap, nor can comments or names defeat the
// cache and the price.
func TestDocuments_AreChargedWhicheverOperationIsSelected(t *testing.T) {
	t.Parallel()
	heavy := func(operations, fragmentsOf int) string {
		text := "query A { __typename } "
		for i := range operations {
			text += fmt.Sprintf("query H%d { user(username: \"alice\") { ...F0 } } ", i)
		}
		return text + fragments(fragmentsOf, "User", func(i int) string {
			return fmt.Sprintf("id timeline { owner { id username } } ...F%d", i+1)
		})
	}
	send := func(a *api, query string) *graphql.Response {
		return a.send(t.Context(), &graphql.RawParams{Query: query, OperationName: "A"})
	}
	a := newAPI(graph.Options{})
	wantError(t, send(a, heavy(15, 171)), "COMPLEXITY_LIMIT_EXCEEDED")
	if a.limiter.spent != cost.PerRefusal {
		t.Errorf("the refused document costs %d, want %d", a.limiter.spent, cost.PerRefusal)
	}

	// Within the bounds, each new document is charged before it is parsed.
	document, err := limits.ReadDocument(heavy(8, 5))
	if err != nil {
		t.Fatal(err)
	}
	price := document.ParseCost()
	if price < 150 {
		t.Errorf("a document of %d bytes costs %d", len(document.Source), price)
	}
	a = newAPI(graph.Options{})
	for i := range 10 {
		wantData(t, send(a, strings.ReplaceAll(document.Source, "H0", fmt.Sprint("G", i))), `{"__typename": "Query"}`)
		if got := a.limiter.costs[2*i].Reads; got < price {
			t.Errorf("document %d costs %d, want at least %d", i, got, price)
		}
	}
	a.limiter.refusal = errExhausted()
	calls := len(a.limiter.costs)
	wantError(t, send(a, strings.ReplaceAll(document.Source, "H0", "Other")), "RATE_LIMITED")
	if len(a.limiter.costs) != calls+1 {
		t.Error("a document was parsed for a client without budget")
	}

	// A changing comment does not make a new document, but it has to be read.
	a = newAPI(graph.Options{})
	for i := range 10 {
		wantData(t, send(a, document.Source+fmt.Sprintf("#%0*d", 10_000, i)), `{"__typename": "Query"}`)
		got, want := a.limiter.costs[2*i].Reads, 1+len(document.Source+fmt.Sprintf("#%0*d", 10_000, i))/256
		if i == 0 {
			want += price
		}
		if got != want {
			t.Errorf("request %d: the document costs %d, want %d", i, got, want)
		}
	}
	// A document that was sent before in exactly this form costs nothing.
	before := len(a.limiter.costs)
	wantData(t, send(a, document.Source+fmt.Sprintf("#%0*d", 10_000, 9)), `{"__typename": "Query"}`)
	if got := len(a.limiter.costs) - before; got != 1 {
		t.Errorf("the known document was charged: %v", a.limiter.costs[before:])
	}
}

func TestReadDocument_RefusesDocumentsBeyondItsBounds(t *testing.T) {
	t.Parallel()
	spreads := func(n int) string {
		return "{ viewer { " + strings.Repeat("...F ", n) + "} } fragment F on Viewer { id }"
	}
	for name, tt := range map[string]struct {
		most     int
		document func(n int) string
	}{
		"bytes":     {32 << 10, func(n int) string { return "{ a }" + strings.Repeat(" ", n-len("{ a }")) }},
		"tokens":    {2000, func(n int) string { return "{" + strings.Repeat(" a", n-2) + " }" }},
		"fragments": {20, func(n int) string { return "{ viewer { id } }" + numbered(n, " fragment F%d on User { id }") }},
		"spreads":   {50, spreads},
		"name":      {64, func(n int) string { return "{ " + strings.Repeat("a", n) + " }" }},
		"nesting":   {40, func(n int) string { return strings.Repeat("{ a ", n) + strings.Repeat("}", n) }},
	} {
		if _, err := limits.ReadDocument(tt.document(tt.most)); err != nil {
			t.Errorf("%s: %d are refused: %v", name, tt.most, err)
		}
		if _, err := limits.ReadDocument(tt.document(tt.most + 1)); err == nil {
			t.Errorf("%s: %d are accepted", name, tt.most+1)
		}
	}
}
