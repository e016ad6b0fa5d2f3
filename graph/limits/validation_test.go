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

// TestValidator_ForgetsTheVariablesOfOtherOperations validates two operations with one fragment. The value of a variable that was not sent must not be
// the default value of the other operation.
func TestValidator_ForgetsTheVariablesOfOtherOperations(t *testing.T) {
	t.Parallel()
	doc := parseText(t, `query A($n: Int) { ...F } query B($n: Int = 1) { ...F } fragment F on Query { publicTimeline { posts(first: $n) { liveCursor } } }`)
	if errs := limits.NewValidator(graph.Schema(), false).Validate(doc); len(errs) > 0 {
		t.Fatal(errs)
	}
	timeline := doc.Fragments.ForName("F").SelectionSet[0].(*ast.Field)
	first := timeline.SelectionSet[0].(*ast.Field).Arguments.ForName("first").Value
	if v, err := first.Value(map[string]any{}); v != nil || err != nil {
		t.Errorf("a variable without value is %v (%v), want nothing", v, err)
	}
}

// TestValidator_DoesNotEvaluateDefaultValues validates a document that uses a variable with a default value hundreds of times, in a list. The work is
// compared by its allocations.
func TestValidator_DoesNotEvaluateDefaultValues(t *testing.T) {
	allocations := func(values int) float64 {
		doc := parseText(t, `subscription($a: [Int] = [`+strings.Repeat(`0 `, values)+`]) { timelineEvents(filter: {track: [[`+strings.Repeat(`$a `, 400)+`]]}) { cursor } }`)
		validator := limits.NewValidator(graph.Schema(), true)
		return testing.AllocsPerRun(3, func() {
			if errs := validator.Validate(doc); len(errs) == 0 {
				t.Error("the document is valid")
			}
		})
	}
	if few, many := allocations(1), allocations(500); many > few+5000 {
		t.Errorf("a default value of 500 values takes %.0f allocations more than one of a single value", many-few)
	}
}
