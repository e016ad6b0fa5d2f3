package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
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

// untilLeft is an executor whose operations end when their client leaves, and then badly.
type untilLeft struct{ Executor }

func (untilLeft) DispatchOperation(ctx context.Context, _ *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	return func(ctx context.Context) *graphql.Response {
		<-ctx.Done()
		return &graphql.Response{
			Data:   []byte("null"),
			Errors: gqlerror.List{errorOf(retwis.CodeInternal, "%v", ctx.Err())},
		}
	}, ctx
}

func TestAClientThatLeavesIsNoInternalError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(o *Options) {
		o.Metrics = prometheus.NewRegistry()
		o.Executor = untilLeft{o.Executor}
	}, func(h *harness) {
		counted := func(o outcome) float64 {
			return testutil.ToFloat64(h.server.metrics.operations.counts.WithLabelValues("query", unnamedOperation, o.String()))
		}
		conn := h.connect()
		fmt.Fprintf(conn, "GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		conn.Close()
		synctest.Wait()
		if left, broke := counted(failed), counted(broken); left != 1 || broke != 0 {
			t.Errorf("%v operations failed, %v by internal errors, after the client of one left", left, broke)
		}
		if w, _ := h.do("GET", "query={hello}", ""); w.StatusCode != http.StatusOK || counted(broken) != 1 {
			t.Errorf("one that took too long got %d; internal errors: %v", w.StatusCode, counted(broken))
		}
	})
}

func TestAClientThatLeavesWhileItIsAuthenticatedIsNotLogged(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		for _, leaves := range []bool{true, false} {
			conn := h.connect()
			h.accounts.set(errors.New("cut off"), func() {
				if leaves {
					conn.Close()
				}
				time.Sleep(time.Second)
			})
			fmt.Fprintf(conn, "GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
			time.Sleep(2 * time.Second)
			if logged := strings.Contains(h.log.String(), "level=ERROR"); logged == leaves {
				t.Errorf("the client leaves: %t; an error is logged: %t", leaves, logged)
			}
			if leaves && !strings.Contains(h.log.String(), "status=499") {
				t.Errorf("its status is another one:\n%s", h.log)
			}
		}
	})
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
		for valueOf(t, registry, "retwis_client_cut_offs_total") == 0 {
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
