package limits_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
	"retwis/graph/limits"
)

// The price list has examples of operations, which are a change of a price away from being wrong.
func TestCost_IsThatOfTheExamplesInThePriceList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, examples, found := strings.Cut(string(text), "| operation | price | parts |\n")
	if !found {
		t.Fatal("the price list has no examples")
	}
	examples, _, _ = strings.Cut(examples, "\n\n") // other tables follow
	a := newAPI(graph.Options{Introspection: true})
	examined := 0
	for line := range strings.Lines(examples) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "| ---") {
			continue
		}
		query := strings.Trim(cells[0], "| `")
		want, err := strconv.Atoi(cells[1])
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		op, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{Query: query})
		if len(errs) > 0 {
			t.Errorf("%s: %v", query, errs)
		} else if got := limits.Cost(op); got != want {
			t.Errorf("%s costs %d, the price list says %d", query, got, want)
		}
		examined++
	}
	if examined < 7 {
		t.Errorf("only %d examples were found", examined)
	}
}
