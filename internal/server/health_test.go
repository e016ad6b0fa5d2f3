package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// readiness is the body of /readyz.
type readiness struct {
	Ready    bool              `json:"ready"`
	Draining bool              `json:"draining"`
	Checks   map[string]string `json:"checks"`
}

func TestReadyz_ReportsChecks(t *testing.T) {
	t.Parallel()
	var broken, lags bool
	servertest.InBubble(t, func(o *server.Options) {
		o.Checks = []server.Check{
			{Name: "redis", Run: func(context.Context) error { return nil }},
			{Name: "live", Run: func(ctx context.Context) error {
				if !broken {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}},
			{Name: "outbox", Advisory: true, Run: func(context.Context) error {
				if lags {
					return errors.New("it lags")
				}
				return nil
			}},
		}
	}, func(h *servertest.Harness) {
		expect := func(status int, want readiness) {
			h.Helper()
			w := httptest.NewRecorder()
			h.Server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/readyz", nil))
			var got readiness
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				h.Fatal(err)
			}
			if w.Code != status || got.Ready != want.Ready || got.Draining != want.Draining || len(got.Checks) != len(want.Checks) {
				h.Errorf("got status %d, %+v", w.Code, got)
			}
			for name, state := range want.Checks {
				if got.Checks[name] != state {
					h.Errorf("%s is %s, want %s", name, got.Checks[name], state)
				}
			}
		}
		expect(200, readiness{Ready: true, Checks: map[string]string{"redis": "ok", "live": "ok", "outbox": "ok"}})
		lags = true
		expect(200, readiness{Ready: true, Checks: map[string]string{"redis": "ok", "live": "ok", "outbox": "failing"}})
		broken = true
		start := time.Now()
		expect(503, readiness{Checks: map[string]string{"redis": "ok", "live": "failing", "outbox": "failing"}})
		if waited := time.Since(start); waited != 2*time.Second {
			h.Errorf("waited %v for a hanging check", waited)
		}
		broken = false
		h.Stop()
		expect(503, readiness{Draining: true, Checks: map[string]string{}})
	})
}
