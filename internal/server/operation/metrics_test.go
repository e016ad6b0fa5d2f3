package operation

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestMetrics_BoundOperationNames uses many more names than the metrics distinguish.
func TestMetrics_BoundOperationNames(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry, []string{"OfTheWebApp"})
	count := func(kind ast.Operation, name string) {
		m.seriesOf(&ast.OperationDefinition{Operation: kind, Name: name}).observe(succeeded, time.Millisecond, 1)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 1000 {
				count(ast.Query, fmt.Sprintf("Name%d", (i*250+j)%1000))
			}
		})
	}
	wg.Wait()
	count(ast.Query, "OfTheWebApp")
	count(ast.Mutation, "")
	count(ast.Query, "Unheard")
	count(ast.Query, strings.Repeat("x", 100_000))

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total, names := 0.0, map[string]float64{}
	for _, family := range families {
		if family.GetName() != "retwis_graphql_operations_total" {
			continue
		}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if label.GetName() == "operation" {
					names[label.GetValue()] += series.GetCounter().GetValue()
				}
			}
			total += series.GetCounter().GetValue()
		}
	}
	if total != 4004 {
		t.Errorf("%v operations are counted, want 4004", total)
	}
	if n := len(names); n < maxNames || n > maxNames+3 {
		t.Errorf("the metrics have %d names, want %d plus those of the web app, the unnamed and the other operations", n, maxNames)
	}
	if names["OfTheWebApp"] != 1 || names[unnamed] != 1 || names[otherName] < 2 || names["Unheard"] != 0 {
		t.Errorf("of the web app %v, unnamed %v, others %v", names["OfTheWebApp"], names[unnamed], names[otherName])
	}
}
