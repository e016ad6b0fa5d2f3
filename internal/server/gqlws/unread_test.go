package gqlws_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/cost"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// Attack: many sockets of one client whose answers nobody reads.
func TestUnreadAnswers_AreBoundedForAllSocketsOfAClient(t *testing.T) {
	t.Parallel()
	const share = 1 << 20
	shares := cost.NewShares()
	shares.Bytes = cost.NewGates(4*share, share)
	registry := prometheus.NewRegistry()
	servertest.InBubble(t, func(o *server.Options) { o.Shares, o.Metrics = shares, registry }, func(h *servertest.Harness) {
		token := h.Login(7)
		for i := range 20 {
			c := h.Ready("")
			for j := range 3 {
				c.Subscribe(fmt.Sprint(j), `{ blob(size: 200000) }`)
			}
			synctest.Wait()
			if used, waiting := shares.Bytes.Used(), queuedBytes(t, registry); used > share || waiting > share {
				h.Fatalf("%v bytes wait for the readers after %d sockets, %d are counted", waiting, i+1, used)
			}
		}
		// Another client is served, by all transports.
		other := h.Ready(token)
		other.Subscribe("1", `{ blob(size: 200000) }`)
		if got := other.Read(); len(got) < 200_000 {
			h.Errorf("another client got %.100s", got)
		}
		if w, body := h.Do("POST", "", `{"query": "{ blob(size: 200000) }"}`, servertest.JSON, "Authorization: Bearer "+token); w.StatusCode != http.StatusOK || len(body) < 200_000 {
			h.Errorf("another client got %d %.100s", w.StatusCode, body)
		}
		if w, body := h.Do("POST", "", `{"query": "{ blob(size: 1000000) }"}`, servertest.JSON); w.StatusCode != http.StatusTooManyRequests || w.Header.Get("Retry-After") == "" {
			h.Errorf("the same client got %d %.100s, want to be refused", w.StatusCode, body)
		}
		h.Stop()
		synctest.Wait()
		if used := shares.Bytes.Used(); used != 0 {
			h.Errorf("%d bytes are held after the end of all connections", used)
		}
	})
}

// queuedBytes returns how many bytes wait for the readers of all connections.
func queuedBytes(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "retwis_client_queue_bytes" {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("the bytes are not measured")
	return 0
}
