package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// alive answers /healthz: the process runs and answers requests.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// readiness is the body of /readyz. Why a part fails is in the log, not here: the
// answer may be read by anybody.
type readiness struct {
	Ready    bool              `json:"ready"`
	Draining bool              `json:"draining,omitempty"`
	Checks   map[string]string `json:"checks"`
}

// ready answers /readyz: whether new requests should come here.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	state := s.check(r.Context())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if !state.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(state)
}

// check runs all checks at once, each with a deadline.
func (s *Server) check(ctx context.Context) readiness {
	state := readiness{Ready: true, Draining: s.draining.Load(), Checks: map[string]string{}}
	if state.Draining {
		state.Ready = false
		return state
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, c := range s.opts.Checks {
		wg.Go(func() {
			err := c.Run(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				state.Checks[c.Name] = "ok"
				return
			}
			state.Checks[c.Name] = "failing"
			state.Ready = false
			s.opts.Log.WarnContext(ctx, "not ready", "check", c.Name, "err", err)
		})
	}
	wg.Wait()
	return state
}

// welcome is the page at / of a service without a web app.
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
