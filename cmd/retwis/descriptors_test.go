package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
)

// A process with too many connections answers health checks, refuses other requests with a reason, and names the limit.
func TestFileDescriptors_AreReservedForHealthChecks(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0", "GOMAXPROCS=2")
	p := launchCommand(t, env, "sh", "-c", `ulimit -n 256 && exec "$0" "$@"`, program, "serve")
	p.url = readyURL(p, "text")
	operators := metricsOf(p)
	c := newClient(t, p.url)
	var sockets []*websocket.Conn
	for range 400 {
		if ws, status := c.dial(); ws != nil {
			exchange(t, ws, `{"type": "connection_init"}`, "connection_ack") // it stays open
			sockets = append(sockets, ws)
		} else if status != http.StatusServiceUnavailable {
			t.Fatalf("a refused websocket: status %d", status)
		} else {
			break
		}
	}
	if len(sockets) < 100 || len(sockets) > 192 {
		t.Errorf("%d websockets were accepted with a limit of 256 open files", len(sockets))
	}
	var checks sync.WaitGroup
	for range 10 {
		checks.Go(func() {
			for range 10 { // more than the reserve in all: these leave it, one after the other
				if status, body := newClient(t, p.url).get("/healthz"); status != http.StatusOK {
					t.Errorf("/healthz: %d %s", status, body)
				}
			}
		})
	}
	checks.Wait()
	if status, body := newClient(t, p.url).get("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, body := get(t, operators+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz of the operators' listener: %d %s", status, body)
	}
	reply, body := newClient(t, p.url).request("POST", "/graphql", []byte(`{"query":"{ __typename }"}`), "Content-Type: application/json")
	if reply.status != http.StatusServiceUnavailable || !strings.Contains(string(body), `"code":"UNAVAILABLE"`) || reply.header.Get("Retry-After") == "" {
		t.Errorf("an operation: %d %s", reply.status, body)
	}
	if log := p.stderr.String(); !strings.Contains(log, "few file descriptors are left") || !strings.Contains(log, "limit=256") || !strings.Contains(log, "LimitNOFILE") {
		t.Errorf("the log does not name the limit:\n%s", log)
	}
	for _, ws := range sockets {
		ws.Close()
	}
	eventually(t, "operations are accepted again", func() bool {
		reply, _ := newClient(t, p.url).request("POST", "/graphql", []byte(`{"query":"{ __typename }"}`), "Content-Type: application/json")
		return reply.status == http.StatusOK
	})
}
