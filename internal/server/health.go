package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
)

// ServeAlive answers /healthz: the process runs and handles requests.
func ServeAlive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// Check is a readiness check. Run has to return when its context ends.
type Check struct {
	Name     string
	Run      func(context.Context) error
	Advisory bool // whether the process is ready although the check fails
}

// Health reports whether a process is ready for work.
type Health struct {
	Checks   []Check
	Draining func() bool // whether the process is stopping; nil means no
	Log      *slog.Logger
}

// readiness is the body of /readyz. Only operators receive the reasons, which may contain
// addresses. For other clients the reasons are in the log.
type readiness struct {
	Ready    bool              `json:"ready"`
	Draining bool              `json:"draining,omitempty"`
	Checks   map[string]string `json:"checks"`
	Reasons  map[string]string `json:"reasons,omitempty"`
}

// ServeReady answers /readyz: whether new requests should be sent to this process.
func (h Health) ServeReady(w http.ResponseWriter, r *http.Request) {
	state := h.check(r.Context())
	state.Reasons = nil
	state.write(w)
}

// ServeReasons is ServeReady with the reasons, for operators.
func (h Health) ServeReasons(w http.ResponseWriter, r *http.Request) {
	h.check(r.Context()).write(w)
}

func (state readiness) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if !state.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(state)
}

// check runs all checks in parallel, each with a deadline.
func (h Health) check(ctx context.Context) readiness {
	state := readiness{Ready: true, Checks: map[string]string{}, Reasons: map[string]string{}}
	if h.Draining != nil && h.Draining() {
		state.Draining = true
		state.Ready = false
		return state
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, c := range h.Checks {
		wg.Go(func() {
			err := c.Run(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				state.Checks[c.Name] = "ok"
				return
			}
			state.Checks[c.Name] = "failing"
			state.Reasons[c.Name] = err.Error()
			state.Ready = state.Ready && c.Advisory
			h.Log.WarnContext(ctx, "server: readiness check failed", "check", c.Name, "advisory", c.Advisory, "err", err)
		})
	}
	wg.Wait()
	return state
}

// welcome serves the page at / of a service without a web app.
func welcome(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, `Retwis, a timeline service.

The GraphQL API is at /graphql: POST a query there, or open a websocket with the
subprotocol graphql-transport-ws for live timelines.
`)
}
