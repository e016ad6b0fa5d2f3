package limits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"retwis/graph"
	"retwis/graph/limits"
)

// spreadsOf returns a document whose operations spread the first of some fragments. Each of them spreads the next one, and the last one
// selects the fields.
func spreadsOf(operations, fragments int, fields string) string {
	var text strings.Builder
	for i := range operations {
		fmt.Fprintf(&text, "query O%d { publicTimeline { posts { edges { node { ...F0 } } } } } ", i)
	}
	for i := range fragments - 1 {
		fmt.Fprintf(&text, "fragment F%d on Post { ...F%d } ", i, i+1)
	}
	return text.String() + fmt.Sprintf("fragment F%d on Post { %s}", fragments-1, fields)
}

func parseText(tb testing.TB, text string) *ast.QueryDocument {
	tb.Helper()
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// TestValidator_StopsAfterTheLastError validates a document whose unknown fields would be walked 30 times, and compared each time with all fields
// of the type. The work is compared by its allocations, which do not depend on the machine.
func TestValidator_StopsAfterTheLastError(t *testing.T) {
	const fields = 400
	unknown, known := strings.Builder{}, strings.Builder{}
	for i := range fields {
		fmt.Fprintf(&unknown, "%s%03d ", strings.Repeat("createdAt", 6), i)
		fmt.Fprintf(&known, "f%03d: text ", i)
	}
	validator := limits.NewValidator(graph.Schema(), true)
	allocations := func(text string, want int) float64 {
		doc := parseText(t, text)
		return testing.AllocsPerRun(3, func() {
			if errs := validator.Validate(doc); len(errs) != want {
				t.Errorf("got %d errors, want %d: %v", len(errs), want, errs)
			}
		})
	}
	valid := allocations(spreadsOf(10, 20, known.String()), 0)
	invalid := allocations(spreadsOf(10, 20, unknown.String()), limits.MaxErrors)
	if invalid > 2*valid {
		t.Errorf("an invalid document takes %.0f allocations, a valid one %.0f", invalid, valid)
	}
}

func TestValidator_ReturnsAllErrorsInOrder(t *testing.T) {
	t.Parallel()
	validator := limits.NewValidator(graph.Schema(), true)
	errs := validator.Validate(parseText(t, `{ tag(name: "x") { idd namee } user(username: 1) { id } }`))
	var got []string
	for _, err := range errs {
		got = append(got, err.Rule)
		if err.Extensions["code"] != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%v has the code %v", err, err.Extensions["code"])
		}
	}
	if want := "FieldsOnCorrectType FieldsOnCorrectType ValuesOfCorrectType"; strings.Join(got, " ") != want {
		t.Errorf("got errors of the rules %v, want %s", got, want)
	}
}
