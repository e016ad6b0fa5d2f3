package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// groupOf returns the render group of a subscription.
func groupOf(t *testing.T, query string, variables map[string]any) (key string, ofViewer bool) {
	t.Helper()
	l := newLibrary(Hooks{})
	_, op := l.operation(t, query, variables)
	key, _, ofViewer = RenderGroup(l.ast, "perReader", op)
	return key, ofViewer
}

// Attack: 17 600 selections of 46 short fields took 75 bytes of memory for a byte of their text, and bounds counted 32 bytes for each. Fields
// of an interface took twice as much.
func TestRenderGroup_SizeIsThatOfTextAndFields(t *testing.T) {
	t.Parallel()
	size := func(query string) int {
		l := newLibrary(Hooks{})
		_, op := l.operation(t, query, nil)
		_, size, _ := RenderGroup(l.ast, "perReader", op)
		return size
	}
	const fields, length, types = 50, 5000, 2
	var short strings.Builder
	for i := range fields {
		fmt.Fprintf(&short, " a%d: title", i)
	}
	if got, want := size(`subscription { events { ... on Book {`+short.String()+` } } }`), (1+fields)*leastOfField; got != want {
		t.Errorf("%d short fields have the size %d, want %d", fields, got, want)
	}
	if got, want := size(`subscription { events {`+short.String()+` } }`), (1+fields*types)*leastOfField; got != want {
		t.Errorf("%d short fields of an interface of %d types have the size %d, want %d", fields, types, got, want)
	}
	alias := strings.Repeat("a", length)
	if got := size(`subscription { events { ...f } } fragment f on Item { ` + alias + `: title }`); got < types*length || got > types*(length+100) {
		t.Errorf("a field of %d bytes has the size %d", length, got)
	}
}

func TestRenderGroup_ComparesOperations(t *testing.T) {
	t.Parallel()
	const born = `... on Book { author { born(calendar: 2) } }`
	withVariable := `subscription($n: Int) { events { ` + strings.Replace(born, "2", "$n", 1) + ` } }`
	tests := []struct {
		name           string
		query          string
		variables      map[string]any
		other          string
		otherVariables map[string]any
		same           bool
	}{
		{
			"white space, and the name of the operation", `subscription a { events { title __typename } }`, nil,
			"subscription b {\n events {\n title, __typename } } # x", nil, true,
		},
		{
			"arguments of the root field", `subscription { events { title } }`, nil,
			`subscription($o: ID, $a: String) { events(of: $o, after: $a) { title } }`, map[string]any{"o": "x", "a": "y"}, true,
		},
		{
			"a fragment", `subscription { events { ... on Book { shelf { name } } } }`, nil,
			`subscription { events { ...f } } fragment f on Book { shelf { name } }`, nil, true,
		},
		{
			"a variable of the same value", `subscription { events { ` + born + ` } }`, nil, withVariable, map[string]any{"n": 2}, true,
		},
		{
			"a variable of another value", `subscription { events { ` + born + ` } }`, nil, withVariable, map[string]any{"n": 3}, false,
		},
		{
			"another alias", `subscription { events { title } }`, nil, `subscription { events { t: title } }`, nil, false,
		},
		{
			"another alias of the root field", `subscription { events { title } }`, nil, `subscription { e: events { title } }`, nil, false,
		},
		{
			"another order", `subscription { events { title __typename } }`, nil, `subscription { events { __typename title } }`, nil, false,
		},
		{
			"another condition", `subscription($s: Boolean!) { events { title __typename @skip(if: $s) } }`, map[string]any{"s": true},
			`subscription($s: Boolean!) { events { title __typename @skip(if: $s) } }`, map[string]any{"s": false}, false,
		},
		{
			"another type of a fragment", `subscription { events { ... on Book { title } } }`, nil,
			`subscription { events { ... on Map { title } } }`, nil, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			one, ofViewer := groupOf(t, tt.query, tt.variables)
			other, _ := groupOf(t, tt.other, tt.otherVariables)
			if one == "" || ofViewer {
				t.Errorf("the group is %q, of the viewer: %v", one, ofViewer)
			}
			if (one == other) != tt.same {
				t.Errorf("the same group: %v, want %v", one == other, tt.same)
			}
		})
	}
}

func TestRenderGroup_ReportsFieldsThatDependOnTheViewer(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		`subscription { events { ... on Book { author { name } } } }`:                                              false,
		`subscription { events { ... on Book { lentToMe } } }`:                                                     true,
		`subscription { events { ...f } } fragment f on Book { author { books { x: lentToMe } } }`:                 true,
		`subscription { events { available } }`:                                                                    true,
		`subscription { events { ... on Map { available } } }`:                                                     false,
		`subscription { events { ... on Book { shelf { first { author { books { tags lentToMe title } } } } } } }`: true,
	} {
		if _, ofViewer := groupOf(t, query, nil); ofViewer != want {
			t.Errorf("%s: depends on the viewer: %v, want %v", query, ofViewer, want)
		}
	}
}

func TestRenderGroup_HasNoKeyForFragmentsThatMultiply(t *testing.T) {
	t.Parallel()
	var query strings.Builder
	query.WriteString(`subscription { events { ...f0 } }`)
	for n := range 12 {
		fmt.Fprintf(&query, " fragment f%d on Book { ...f%d ...f%d }", n, n+1, n+1)
	}
	query.WriteString(" fragment f12 on Book { title }")
	if key, _ := groupOf(t, query.String(), nil); key != "" {
		t.Error("an operation of 4096 fields has a key")
	}
	if key, _ := groupOf(t, `subscription { events { `+strings.Repeat("a", maxForm)+`: title } }`, nil); key != "" {
		t.Error("an operation with one long field has a key")
	}
}

// Attack: a long variable was written once for each of its uses before anybody looked at the length.
func TestFits_LooksNoFurtherThanItHasTo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxForm+1)
	for name, value := range map[string]any{
		"a long string": long,
		"a long name":   map[string]any{long: nil},
		"many values":   make([]any, maxForm+1),
		"nested values": []any{map[string]any{"x": make([]any, maxForm)}},
		"many uses":     slices.Repeat([]any{strings.Repeat("x", maxForm/10)}, 20),
	} {
		if fits(map[string]any{"a": value}, maxForm) {
			t.Errorf("%s fits", name)
		}
	}
	if !fits(map[string]any{"a": []any{long[:maxForm/2], 1, true, nil}}, maxForm) {
		t.Error("half of the bytes do not fit")
	}
}
