package server_test

import (
	"slices"

	dto "github.com/prometheus/client_model/go"

	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/operation"
	"retwis/internal/server/servertest"
)

// untilLeft is an executor whose operations run until the client disconnects, and then fail.
type untilLeft struct{ operation.Executor }

func (untilLeft) DispatchOperation(ctx context.Context, _ *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	return func(ctx context.Context) *graphql.Response {
		<-ctx.Done()
		return &graphql.Response{
			Data:   []byte("null"),
			Errors: gqlerror.List{operation.Errorf(retwis.CodeInternal, "%v", ctx.Err())},
		}
	}, ctx
}

func TestMetrics_DisconnectedClientIsNoInternalError(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	servertest.InBubble(t, func(o *server.Options) {
		o.Metrics = registry
		o.Executor = untilLeft{o.Executor}
	}, func(h *servertest.Harness) {
		counted := func(outcome string) float64 {
			return valueOf(t, registry, "retwis_graphql_operations_total", outcome)
		}
		conn := h.Connect()
		fmt.Fprintf(conn, "GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		conn.Close()
		synctest.Wait()
		if left, broke := counted("failed"), counted("internal"); left != 1 || broke != 0 {
			t.Errorf("%v operations failed, %v with internal errors, after one client disconnected", left, broke)
		}
		if w, _ := h.Do("GET", "query={hello}", ""); w.StatusCode != http.StatusOK || counted("internal") != 1 {
			t.Errorf("an operation above the timeout got %d; internal errors: %v", w.StatusCode, counted("internal"))
		}
	})
}

// A subscription that its group refuses was counted nowhere.
func TestMetrics_CountSubscriptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	servertest.InBubble(t, func(o *server.Options) { o.Metrics = registry }, func(h *servertest.Harness) {
		w, body := h.Do("POST", "", `{"query": "subscription { feed(topic: \"panics\") }"}`, servertest.JSON, "Accept: text/event-stream")
		if broke := valueOf(t, registry, "retwis_graphql_operations_total", "internal"); broke != 1 {
			t.Errorf("%v operations failed, after status %d: %s", broke, w.StatusCode, body)
		}
	})
}

func TestServer_DoesNotLogADisconnectDuringAuthentication(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		for _, leaves := range []bool{true, false} {
			conn := h.Connect()
			h.Accounts.Set(errors.New("cut off"), func() {
				if leaves {
					conn.Close()
				}
				time.Sleep(time.Second)
			})
			fmt.Fprintf(conn, "GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
			time.Sleep(2 * time.Second)
			if logged := strings.Contains(h.Logs.String(), "level=ERROR"); logged == leaves {
				t.Errorf("the client disconnects: %t; an error is logged: %t", leaves, logged)
			}
			if leaves && !strings.Contains(h.Logs.String(), "status=499") {
				t.Errorf("unexpected status:\n%s", h.Logs)
			}
		}
	})
}

func TestMetrics_CountQueuesAndSlowConsumers(t *testing.T) {
	registry := prometheus.NewRegistry()
	servertest.OnTCP(t, func(o *server.Options) { o.Metrics = registry }, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", servertest.FeedA)
		const length = 64 << 10
		text := strings.Repeat("x", length/16) // the queue grows by many events, with a sample after each
		poll := time.NewTicker(time.Millisecond)
		defer poll.Stop()
		waited := 0.0
		for valueOf(t, registry, "retwis_client_slow_consumers_total", "") == 0 {
			select {
			case h.Backend.Topic("a") <- text:
			case <-poll.C:
			}
			waited = max(waited, valueOf(t, registry, "retwis_client_queue_bytes", ""))
		}
		if waited < length {
			t.Errorf("at most %v bytes waited for a reader that does not read", waited)
		}
		if got := valueOf(t, registry, "retwis_client_slow_consumers_total", ""); got != 1 {
			t.Errorf("%v slow consumers were disconnected, want 1", got)
		}
	})
}

// valueOf returns the value of a metric, of a series with an outcome if there is one.
func valueOf(t *testing.T, registry *prometheus.Registry, name, outcome string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			if outcome == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == outcome }) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s %s", name, outcome)
	return 0
}

func TestMetrics_FollowTheConventions(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	servertest.OnTCP(t, func(o *server.Options) { o.Metrics = registry }, func(h *servertest.Harness) {
		h.Do("POST", "", `{"query":"{ name }"}`, "Content-Type: application/json")
		problems, err := testutil.GatherAndLint(registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
	})
}
