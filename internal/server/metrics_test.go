package server

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestNamesOfOperationsAreBounded uses far more names than are told apart.
func TestNamesOfOperationsAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := newOperationMetrics(registry, []string{"OfTheWebApp"})
	count := func(kind ast.Operation, name string) {
		m.of(&ast.OperationDefinition{Operation: kind, Name: name}).observe(succeeded, time.Millisecond, 1)
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
	if n := len(names); n < maxOperationNames || n > maxOperationNames+3 {
		t.Errorf("%d names are told apart, want %d and the web app's, the unnamed and the others", n, maxOperationNames)
	}
	if names["OfTheWebApp"] != 1 || names[unnamedOperation] != 1 || names[otherOperation] < 2 || names["Unheard"] != 0 {
		t.Errorf("of the web app %v, unnamed %v, others %v", names["OfTheWebApp"], names[unnamedOperation], names[otherOperation])
	}
}

func TestQueuesAndCutOffsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	change := func(o *Options) {
		o.QueueBytes = 1 << 20
		o.Metrics = registry
	}
	onTCP(t, change, func(h *harness) {
		c := h.ready("")
		var cut *conn
		h.server.sockets.mu.Lock()
		for open := range h.server.sockets.open {
			cut = open.(*socket).conn
		}
		h.server.sockets.mu.Unlock()
		text := []byte(strings.Repeat("x", 64<<10))
		waited := 0.0
		for !cut.isClosing() {
			cut.send(text)
			waited = max(waited, valueOf(t, registry, "retwis_client_queue_bytes"))
		}
		if waited < float64(len(text)) {
			t.Errorf("at most %v bytes waited for a reader that does not read", waited)
		}
		if got := valueOf(t, registry, "retwis_client_cut_offs_total"); got != 1 {
			t.Errorf("%v clients were cut off, want 1", got)
		}
		c.ws.Close()
	})
}

func valueOf(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			m := family.GetMetric()[0]
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestMetricsFollowTheConventions(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	onTCP(t, func(o *Options) { o.Metrics = registry }, func(h *harness) {
		h.do("POST", "", `{"query":"{ name }"}`, "Content-Type: application/json")
		problems, err := testutil.GatherAndLint(registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
	})
}
